import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { isClockSkewError } from '@smithy/core/retry';
import { StoreUnavailable } from '../contract/errors.ts';
import { FLOOR_RATE, MOST_REPLY_BYTES, REPLY_MILLISECONDS } from './callBounds.ts';
import { isOverdue } from './requestDeadline.ts';

/**
 * Bounds what the SDK leaves unbounded, a reply's body, and has it repeat what it would not: a call whose
 * reply cannot be read. `x-amz-crc32` is left unchecked: within TLS every record of bytes is authenticated, and a
 * connection that was cut short is told from one that ended, so that the sum could only find what
 * DynamoDB itself got wrong. What a machine in between answers is no JSON.
 */
export function boundReplies({ middlewareStack }: DynamoDBClient): void {
  middlewareStack.add(
    (next) =>
      async function boundReply(args) {
        const sent = performance.now();
        const result = await next(args);
        const { headers, body } = result.response as Reply;
        // DynamoDB's own have two bytes at least; to the SDK, nothing means that there is nothing.
        if (body.complete && body.readableLength === 0) throw new UnreadableReply('It is empty.');
        const length = Number(headers['content-length'] ?? 0);
        boundBody(body, sent + toPatience(length) - performance.now());
        return result;
      },
    // The innermost step and place: next to the network.
    { step: 'deserialize', priority: 'low', name: 'boundReply' },
  );
  // Around one attempt: within the SDK's retries, and around its signing, which marks errors.
  middlewareStack.addRelativeTo(judgeReply, {
    relation: 'before',
    toMiddleware: 'httpSigningMiddleware',
    name: 'judgeReply',
  });
}

function judgeReply<Args, Output>(next: (args: Args) => Promise<Output>) {
  return async function judge(args: Args): Promise<Output> {
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
function toPatience(length: number): number {
  return REPLY_MILLISECONDS + Math.min(length, MOST_REPLY_BYTES) / FLOOR_RATE;
}

function boundBody(body: Body, milliseconds: number): void {
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
  readonly $retryable = { throttling: false };

  constructor(cause: unknown) {
    super('A reply could not be read.', { cause });
  }
}

/**
 * While this machine's clock is wrong, the SDK marks every error that DynamoDB answers as one that a corrected
 * clock may mend, and repeats the call. That is true only where DynamoDB refuses a signature.
 */
function unmarkClockSkew(error: { $metadata?: Record<string, unknown> }): void {
  if (!isClockSkewError(error as never)) delete error.$metadata?.clockSkewCorrected;
}

/** JSON that is none, or bytes that are not HTTP (https://nodejs.org/api/errors.html#hpe_-errors). */
function isUnreadable(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  return error instanceof SyntaxError || (typeof code === 'string' && code.startsWith('HPE_'));
}
