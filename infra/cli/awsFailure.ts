/** A failure of AWS, or on the way to its credentials. */
interface Failure {
  /** The name and the message of the error, and what the pattern found in them. */
  readonly found: RegExpExecArray;
  readonly name: string;
  /** AWS_PROFILE, where it is set. */
  readonly profile: string | undefined;
}

type ToLine = (failure: Failure) => string;

/**
 * What a failure of the AWS SDK means, and what to type next. Names of errors:
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/errors-common.html
 * @returns nothing where it is not known
 */
export function toAwsLine(
  error: unknown,
  { AWS_PROFILE: profile }: NodeJS.ProcessEnv = process.env,
): string | undefined {
  const { name, message } = error as Error;
  for (const [pattern, toLine] of lines) {
    const found = pattern.exec(`${name}: ${message}`);
    if (found) return toLine({ found, name, profile: profile || undefined });
  }
  return undefined;
}

const anotherRegion = 'export AWS_REGION=eu-west-1, or whichever the stage is in.';
const anotherProfile = 'export AWS_PROFILE=NAME, one of aws configure list-profiles.';

const lines: readonly (readonly [pattern: RegExp, toLine: ToLine])[] = [
  [
    /^Error: Region is missing/,
    ({ profile }) =>
      profile === undefined
        ? `No AWS region is set: ${anotherRegion}`
        : `The AWS profile "${profile}" is not there or has no region: see aws configure list-profiles, or ${anotherRegion}`,
  ],
  [
    /^Error: Region not accepted: region="(.*?)"/s,
    ({ found }) => `"${found[1]}" is no AWS region: ${anotherRegion}`,
  ],
  [/^(Credentials|Token)ProviderError: .*(?<login>aws (sso )?login)/s, toSignOn],
  [
    /^CredentialsProviderError: Could not load credentials/,
    ({ profile }) =>
      profile === undefined
        ? `There are no AWS credentials: run aws configure or aws sso login, or ${anotherProfile}`
        : `The AWS profile "${profile}" is not there or has no credentials: ${anotherProfile}`,
  ],
  [
    /^(Credentials|Token)ProviderError: (?<why>[^.]+)/,
    ({ found }) =>
      `AWS credentials cannot be had (${found.groups?.why}): run aws configure, or ${anotherProfile}`,
  ],
  [/^(ExpiredToken|RequestExpired)/, toSignOn],
  [
    /^(UnrecognizedClient|InvalidClientTokenId|InvalidAccessKeyId|IncompleteSignature|MissingAuthenticationToken|OptInRequired)/,
    ({ name }) =>
      `AWS does not know these credentials, or not in this region (${name}): look at both with aws configure list, and run aws configure, or ${anotherProfile}`,
  ],
  [
    /^(InvalidSignature|SignatureDoesNotMatch|RequestTimeTooSkewed)/,
    ({ name }) =>
      `AWS does not accept the signature (${name}): the secret access key is not that of the key id, so run aws configure, or the clock is wrong, so look at date -u.`,
  ],
  [
    /^(?:AccessDenied|UnauthorizedOperation|NotAuthorized)\w*: (?:User: (?<who>\S+) is not authorized to perform: (?<action>[\w-]+:\w+)(?: on resource: (?<resource>\S+))?)?/,
    toDenied,
  ],
  [
    /^(Throttling|TooManyRequests|RequestLimitExceeded|ProvisionedThroughputExceeded|RequestThrottled|SlowDown)/,
    ({ name }) =>
      `AWS lets no more calls through for now (${name}): wait a minute, and run the same command again.`,
  ],
  [
    /^ResourceNotFoundException: (?<what>.*(function|alias).*)/is,
    ({ found, name }) =>
      `There is no such function, version or alias (${name}: ${found.groups?.what}): run the same command again to see what there is, or deploy the stage.`,
  ],
  [
    /^(ResourceNotFound|TableNotFound)Exception: (?=.*(requested resource|table))(?:.*Table: (?<table>[\w.-]+))?/is,
    ({ found, name }) =>
      `There is no table ${found.groups?.table ?? 'of this name'} (${name}): at an --endpoint, make it there or name another one; for a stage's, see "A deleted table" in infra/RUNBOOK.md.`,
  ],
  [
    /^(InternalServerError|InternalFailure|ServiceUnavailable|ServiceException)/,
    ({ name }) =>
      `AWS itself fails (${name}): look at the AWS Health Dashboard, and run the same command again later.`,
  ],
];

function toSignOn({ found, name, profile }: Failure): string {
  const login = found.groups?.login ?? 'aws sso login';
  const which = profile === undefined ? '' : ` --profile ${profile}`;
  return `The AWS credentials have expired (${name}): run ${login}${which}, or export new ones, and run the same command again.`;
}

function toDenied({ found, name }: Failure): string {
  const { who, action, resource } = found.groups ?? {};
  const what = action === undefined ? 'this' : `${action}${resource ? ` on ${resource}` : ''}`;
  const whom = who === undefined ? '' : ` to ${who}`;
  return `AWS refuses ${what}${whom} (${name}): have it allowed, or ${anotherProfile}`;
}
