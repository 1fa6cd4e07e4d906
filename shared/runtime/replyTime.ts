import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { isClockSkewError } from '@smithy/core/retry';
import { StoreUnavailable } from '../contract/errors.ts';

/**
 * The limits of one call: at most 3 attempts. Each has 1 s to connect, and `REPLY_MILLISECONDS` from sending to the
 * last byte of its reply. That makes 9 s and the pauses between attempts. `setDeadline` limits a whole request.
 */
export const callBounds = {
  maxAttempts: 3,
  requestHandler: {
    connectionTimeout: 1_000,
    // Ends at the reply's headers; `limitReplyTime` limits the body.
    requestTimeout: 3_000,
    throwOnRequestTimeout: true,
    // It detects only silence, which the limit of the whole reply covers.
    socketTimeout: 0,
  },
};

/** Milliseconds from sending an attempt to the last byte of a small reply. */
const REPLY_MILLISECONDS = callBounds.requestHandler.requestTimeout;

/**
 * The minimum rate of a large reply, in bytes per millisecond: each MB adds a second. A full page of a list, 1 MB of
 * records or some 4 MB of DynamoDB's JSON, has 7 s.
 */
const MIN_RATE = 1_000;

/** The length up to which a reply gets more time: twice the largest page. */
const MAX_REPLY_BYTES = 8_000_000;

/**
 * Adds what the SDK lacks: a time limit for a reply's body, and retries of a call with an unreadable reply. It does not
 * check `x-amz-crc32`: TLS authenticates every record and detects a truncated connection. The checksum could only find
 * DynamoDB's own errors. A reply from a machine in between is not JSON.
 */
export function limitReplyTime({ middlewareStack }: DynamoDBClient): void {
  middlewareStack.add(
    (next) =>
      async function limitReply(args) {
        const sent = performance.now();
        const result = await next(args);
        const { headers, body } = result.response as Reply;
        // DynamoDB's own replies have at least two bytes. The SDK takes an empty reply as an empty result.
        if (body.complete && body.readableLength === 0)
          throw unreadableReply('The reply is empty.');
        const length = Number(headers['content-length'] ?? 0);
        limitBody(body, sent + replyTimeout(length) - performance.now());
        return result;
      },
    // The innermost position: next to the network.
    { step: 'deserialize', priority: 'low' },
  );
  // Around one attempt: inside the SDK's retries, and outside its signing, which marks errors.
  middlewareStack.addRelativeTo(classifyReply, {
    relation: 'before',
    toMiddleware: 'httpSigningMiddleware',
  });
}

function classifyReply<Args, Output>(next: (args: Args) => Promise<Output>) {
  return async function classify(args: Args): Promise<Output> {
    if (isOverdue()) throw new StoreUnavailable(new Error('The request is past its deadline.'));
    try {
      return await next(args);
    } catch (error) {
      unmarkClockSkew(error as never);
      throw isUnreadable(error) ? unreadableReply(error) : error;
    }
  };
}

interface Reply {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: IncomingMessage;
}

/** Milliseconds from an attempt's start to the last byte of a reply of that length. */
function replyTimeout(length: number): number {
  return REPLY_MILLISECONDS + Math.min(length, MAX_REPLY_BYTES) / MIN_RATE;
}

function limitBody(body: IncomingMessage, milliseconds: number): void {
  // The usual case: the body of a small reply comes with its headers.
  if (body.complete || body.destroyed) return;
  const timer = setTimeout(() => body.destroy(lateReply()), milliseconds);
  body.once('close', () => clearTimeout(timer));
}

/** The SDK retries an error with this name. */
function lateReply(): Error {
  return Object.assign(new Error('The reply timed out.'), { name: 'TimeoutError' });
}

/** The reply is truncated or not DynamoDB's. The SDK retries an error with `$retryable`. */
export function unreadableReply(cause: unknown): Error {
  const error = new Error('The reply is unreadable.', { cause });
  return Object.assign(error, { name: 'UnreadableReply', $retryable: {} });
}

/**
 * If this machine's clock is wrong, the SDK marks every error of DynamoDB as fixable by a corrected clock, and retries
 * the call. That is right only if DynamoDB refuses a signature.
 */
function unmarkClockSkew(error: { $metadata?: Record<string, unknown> }): void {
  if (!isClockSkewError(error as never)) delete error.$metadata?.clockSkewCorrected;
}

/**
 * Invalid JSON, or bytes that are not HTTP (https://nodejs.org/api/errors.html#hpe_-errors). The SDK's deserializer
 * gives its errors a hidden `$response`. Any other SyntaxError is our own mistake, which a retry would repeat.
 */
function isUnreadable(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  const isInvalidJson = error instanceof SyntaxError && '$response' in error;
  return isInvalidJson || (typeof code === 'string' && code.startsWith('HPE_'));
}

const deadline = new AsyncLocalStorage<number>();

/**
 * Sets the time, in milliseconds since the epoch, after which the current request starts no further attempt of a call.
 * Lambda freezes a function after its response and resumes it with the next request, perhaps minutes later. A write
 * still in retries would then take effect after newer writes.
 */
export function setDeadline(time: number): void {
  deadline.enterWith(time);
}

/** Whether the current request is past its deadline. */
export function isOverdue(): boolean {
  return Date.now() >= (deadline.getStore() ?? Number.POSITIVE_INFINITY);
}
