interface Failure extends Error {
  readonly code?: string;
  /** The errors of each address of a name, such as localhost. */
  readonly errors?: readonly Error[];
  /** The AWS service of the call, set by the clients of a stage. */
  readonly serviceId?: string;
}

/** The error in one line, with a hint if there is one. */
export function toErrorLine(error: unknown): string {
  const { name, message, code = name, errors: [first] = [], serviceId } = error as Failure;
  const said = message || first?.message || code;
  const hint = hints.find(([pattern]) => pattern.test(`${code}: ${said}`))?.[1];
  const isPlain = plainNames.includes(name);
  const prefix = [serviceId, isPlain ? undefined : name].map((one) => (one ? `${one}: ` : ''));
  const line = prefix.join('') + said;
  return (hint ? `${line.trim().replace(/\.$/, '')}; ${hint}` : line).replace(/\s*\n\s*/g, ' ');
}

/** The errors of which the message alone is shown. */
const plainNames = ['UsageError', 'Error', 'TypeError', 'AggregateError', 'StageSettingsError'];

/**
 * What to type next, by an error's code or name and its message:
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/errors-common.html
 */
const hints: readonly (readonly [pattern: RegExp, hint: string])[] = [
  [
    /^Error: Region (is missing|not accepted)/,
    'export AWS_REGION=eu-west-1, or whichever the stage is in.',
  ],
  [
    /^((Credentials|Token)ProviderError|ExpiredToken|RequestExpired)/,
    'run aws sso login or aws configure, or export AWS_PROFILE=NAME, one of aws configure list-profiles.',
  ],
  [
    /^(UnrecognizedClient|InvalidClientTokenId|InvalidAccessKeyId|InvalidSignature|SignatureDoesNotMatch|RequestTimeTooSkewed|OptInRequired)/,
    'AWS does not know these credentials in this region, or the clock is wrong: look at aws configure list and date -u.',
  ],
  [
    /^(ValidationError: )?(AccessDenied|UnauthorizedOperation|NotAuthorized)/,
    'AWS refuses this: have it allowed, or export AWS_PROFILE=NAME.',
  ],
  [
    /^(Throttling|TooManyRequests|RequestLimitExceeded|ProvisionedThroughputExceeded)/,
    'wait a minute, and run the same command again.',
  ],
  [
    /^(ResourceNotFound|TableNotFound)Exception: .*(requested resource|table)/is,
    `for a stage's table, see "A deleted table" in infra/OPERATIONS.md.`,
  ],
  [
    /^(ENOTFOUND|EAI_AGAIN|ECONN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EPROTO|TimeoutError)|Deserialization error/,
    "look at the region, --endpoint or AWS_ENDPOINT_URL, and at this machine's network, VPN and proxy.",
  ],
  [
    /^\w*CERT|^UNABLE_TO_VERIFY/,
    'behind a proxy with a certificate of its own, export NODE_EXTRA_CA_CERTS=FILE.',
  ],
  [
    /^(\w+: )?ENOENT: no such file/,
    'name one that exists, as seen from the folder where you type.',
  ],
];
