/** What went wrong, in one line, and what to do next where that is known. */
export function toErrorLine(error: unknown): string {
  const line =
    toParseLine(error) ??
    toAwsLine(error as Error) ??
    toNetworkLine(error as NetworkFailure) ??
    toFullDiskLine(error) ??
    toNameAndMessage(error as Error);
  return line.replace(/\s*\n\s*/g, ' ');
}

/** Whether node:util's parseArgs threw it, at an option that it does not know and the like. */
export function isParseFailure(error: unknown): boolean {
  return String((error as NodeJS.ErrnoException).code).startsWith('ERR_PARSE_ARGS');
}

function toParseLine(error: unknown): string | undefined {
  if (!isParseFailure(error)) return undefined;
  const [, option] = /^Option '([^']+)' argument is ambiguous/.exec((error as Error).message) ?? [];
  if (option)
    return `${option} needs a value; one that begins with a dash is ${option}=-…. See --help.`;
  // What follows the first sentence explains parseArgs, not this command.
  return `${(error as Error).message.split(/\. |\n/)[0]}. See --help.`;
}

/** SQLite sorts and compares ids in temporary files: https://www.sqlite.org/tempfiles.html */
function toFullDiskLine(error: unknown): string | undefined {
  if ((error as Error).message !== 'database or disk is full') return undefined;
  return 'The folder for temporary files is full: export SQLITE_TMPDIR=FOLDER, one with more space, and run the same command again.';
}

function toNameAndMessage({ name, message }: Error): string {
  const prefix = ['UsageError', 'Error', 'TypeError'].includes(name) ? '' : `${name}: `;
  return prefix + (message || 'no further description');
}

interface Failure {
  /** What the pattern found in the error's name and message. */
  readonly found: RegExpExecArray;
  readonly name: string;
  /** AWS_PROFILE, where it is set. */
  readonly profile: string | undefined;
}

/**
 * What a failure of the AWS SDK means, and what to type next. Names of errors:
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/errors-common.html
 */
function toAwsLine({ name, message }: Error): string | undefined {
  const profile = process.env.AWS_PROFILE || undefined;
  for (const [pattern, toLine] of awsLines) {
    const found = pattern.exec(`${name}: ${message}`);
    if (found) return toLine({ found, name, profile });
  }
  return undefined;
}

const anotherRegion = 'export AWS_REGION=eu-west-1, or whichever the stage is in.';
const anotherProfile = 'export AWS_PROFILE=NAME, one of aws configure list-profiles.';

const awsLines: readonly (readonly [pattern: RegExp, toLine: (failure: Failure) => string])[] = [
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
  [/^(Credentials|Token)ProviderError: .*(?<login>aws (sso )?login)/s, signOnLine],
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
  [/^(ExpiredToken|RequestExpired)/, signOnLine],
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
    deniedLine,
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

function signOnLine({ found, name, profile }: Failure): string {
  const login = found.groups?.login ?? 'aws sso login';
  const which = profile === undefined ? '' : ` --profile ${profile}`;
  return `The AWS credentials have expired (${name}): run ${login}${which}, or export new ones, and run the same command again.`;
}

function deniedLine({ found, name }: Failure): string {
  const { who, action, resource } = found.groups ?? {};
  const what = action === undefined ? 'this' : `${action}${resource ? ` on ${resource}` : ''}`;
  const whom = who === undefined ? '' : ` to ${who}`;
  return `AWS refuses ${what}${whom} (${name}): have it allowed, or ${anotherProfile}`;
}

interface NetworkFailure extends Error {
  readonly code?: string;
  readonly hostname?: string;
  readonly address?: string;
  readonly port?: number;
  /** Those of each address of a name, such as localhost. */
  readonly errors?: readonly NetworkFailure[];
}

function toNetworkLine(error: NetworkFailure): string | undefined {
  const { name, message, code = name, hostname, errors } = error;
  if (/^(ENOTFOUND|EAI_AGAIN)$/.test(code)) {
    return `${hostname} cannot be found (${code}): look at the region or --endpoint that it is made of, and at this machine's network.`;
  }
  if (code === 'ECONNREFUSED') {
    const { address, port } = errors?.[0] ?? error;
    return `Nothing listens at ${address}:${port} (${code}): look at --endpoint or AWS_ENDPOINT_URL, and start what is to answer there.`;
  }
  if (code === 'EPROTO') {
    return `What answered speaks no TLS (${code}): look at --endpoint or AWS_ENDPOINT_URL, and begin it with http:, not https:.`;
  }
  if (/CERT|UNABLE_TO_VERIFY/.test(code)) {
    return `The certificate of what answered is not trusted (${code}): behind a proxy with one of its own, export NODE_EXTRA_CA_CERTS=FILE.`;
  }
  if (/^(ECONNRESET|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|TimeoutError)$/.test(code)) {
    return `There was no answer (${code}): look at this machine's network, VPN and proxy, and run the same command again.`;
  }
  if (message?.includes('Deserialization error')) {
    return 'What answered is neither AWS nor an emulator: look at --endpoint or AWS_ENDPOINT_URL.';
  }
  return undefined;
}
