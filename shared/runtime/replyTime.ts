import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { isClockSkewError } from '@smithy/core/retry';
import { StoreUnavailable } from '../contract/errors.ts';
import { isOverdue } from './requestDeadline.ts';

/**
 * The bounds of one call: at most 3 attempts, each with 1 s to connect and, from being sent to the last
 * byte of its reply, `REPLY_MILLISECONDS`; so 9 s and the pauses between them. What a request may wait
 * for in all is bounded by `requestDeadline.ts`.
 */
export const callBounds = {
  maxAttempts: 3,
  requestHandler: {
    connectionTimeout: 1_000,
    // Ends at the reply's head; `limitReplyTime` sees to the body.
    requestTimeout: 3_000,
    throwOnRequestTimeout: true,
    // It would see only silence, which the bound of the whole reply sees too.
    socketTimeout: 0,
  },
};

/** Milliseconds from when an attempt is sent to the last byte of a small reply. */
const REPLY_MILLISECONDS = callBounds.requestHandler.requestTimeout;

/**
 * The slowest that a large reply may come, in bytes a millisecond: each MB of it has a second more. A full
 * page of a list, 1 MB of records or some 4 MB of DynamoDB's JSON, has 7 s.
 */
const MIN_RATE = 1_000;

/** What a reply may be that has more time for its length: twice the largest page. */
const MAX_REPLY_BYTES = 8_000_000;

/**
 * Limits what the SDK does not, the time of a reply's body, and has it repeat what it would not: a call whose
 * reply cannot be read. `x-amz-crc32` is left unchecked: within TLS every record of bytes is authenticated, and a
 * connection that was cut short is told from one that ended, so that the sum could only find what
 * DynamoDB itself got wrong. What a machine in between answers is not JSON.
 */
export function limitReplyTime({ middlewareStack }: DynamoDBClient): void {
  middlewareStack.add(
    (next) =>
      async function limitReply(args) {
        const sent = performance.now();
        const result = await next(args);
        const { headers, body } = result.response as Reply;
        // DynamoDB's own have two bytes at least; to the SDK, nothing means that there is nothing.
        if (body.complete && body.readableLength === 0) throw new UnreadableReply('It is empty.');
        const length = Number(headers['content-length'] ?? 0);
        limitBody(body, sent + replyTimeout(length) - performance.now());
        return result;
      },
    // The innermost step and place: next to the network.
    { step: 'deserialize', priority: 'low' },
  );
  // Around one attempt: within the SDK's retries, and around its signing, which marks errors.
  middlewareStack.addRelativeTo(classifyReply, {
    relation: 'before',
    toMiddleware: 'httpSigningMiddleware',
  });
}

function classifyReply<Args, Output>(next: (args: Args) => Promise<Output>) {
  return async function classify(args: Args): Promise<Output> {
    if (isOverdue()) throw new StoreUnavailable(new Error('The request is out of time.'));
    try {
      return await next(args);
    } catch (error) {
      unmarkClockSkew(error as never);
      throw isUnreadable(error) ? new UnreadableReply(error) : error;
    }
  };
}

interface Reply {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body;
}

/** Node's `IncomingMessage`, of which the types of the browser know nothing. */
interface Body {
  readonly complete: boolean;
  readonly destroyed: boolean;
  readonly readableLength: number;
  once(event: 'close', listener: () => void): void;
  destroy(error: Error): void;
}

/** Milliseconds from an attempt's start to the last byte of a reply of that length. */
function replyTimeout(length: number): number {
  return REPLY_MILLISECONDS + Math.min(length, MAX_REPLY_BYTES) / MIN_RATE;
}

function limitBody(body: Body, milliseconds: number): void {
  // As most are: the body of a small reply comes with its head.
  if (body.complete || body.destroyed) return;
  const timer = setTimeout(() => body.destroy(new LateReply()), milliseconds);
  body.once('close', () => clearTimeout(timer));
}

/** The SDK repeats a call for this name. */
class LateReply extends Error {
  override readonly name = 'TimeoutError';

  constructor() {
    super('The end of the reply did not come in time.');
  }
}

/** What came is not DynamoDB's, or not all of it. The SDK repeats a call for `$retryable`. */
class UnreadableReply extends Error {
  override readonly name = 'UnreadableReply';
  readonly $retryable = {};

  constructor(cause: unknown) {
    super('A reply could not be read.', { cause });
  }
}

/**
 * While this machine's clock is wrong, the SDK marks every error that DynamoDB answers as one that a corrected
 * clock may fix, and repeats the call. That is true only where DynamoDB refuses a signature.
 */
function unmarkClockSkew(error: { $metadata?: Record<string, unknown> }): void {
  if (!isClockSkewError(error as never)) delete error.$metadata?.clockSkewCorrected;
}

/** Invalid JSON, or bytes that are not HTTP (https://nodejs.org/api/errors.html#hpe_-errors). */
function isUnreadable(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  return error instanceof SyntaxError || (typeof code === 'string' && code.startsWith('HPE_'));
}
