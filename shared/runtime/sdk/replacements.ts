// Replaces, in the bundles, modules that the SDK loads on every cold start and that functions do not need.

/**
 * Replaces `@aws-sdk/credential-provider-node`, which loads its SSO, STS, INI and instance metadata clients. Lambda
 * passes credentials in the environment.
 */
export function defaultProvider() {
  return readCredentials;
}

async function readCredentials() {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = process.env;
  if (!AWS_ACCESS_KEY_ID || !AWS_SECRET_ACCESS_KEY) {
    throw new Error('AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must both be set.');
  }
  return {
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    ...(AWS_SESSION_TOKEN && { sessionToken: AWS_SESSION_TOKEN }),
  };
}

/** Replaces `@smithy/core/event-streams`, which loads `node:zlib`. No DynamoDB operation has an event stream. */
export function EventStreamSerde(): never {
  throw new Error('The bundles leave event streams out: no DynamoDB operation has one.');
}

/** Replaces that of `node:fs/promises`, which loads readline. The SDK reads its configuration files with it. */
export function readFile(path: string, encoding: BufferEncoding): Promise<string> {
  return process.getBuiltinModule('node:fs').promises.readFile(path, encoding);
}
