import type { Request } from '@middy/core';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import type { VerifiedKey } from '../keys/keyVerifier.ts';
import type { RequestUnits } from '../runtime/requestUnits.ts';

/** The length up to which messages and the log show a name that a client sent, in UTF-16 code units. */
export const MAX_NAME_LENGTH = 40;

/** What the middleware learns about a request on its way to the handler. */
export interface RequestState extends Record<string, unknown> {
  /** Milliseconds since the epoch. */
  startedAt: number;
  /** Whether the event is a request of API Gateway. Something else gets no response and no request line. */
  isRequest: boolean;
  /** Whether it is the function's own request: see `warmUp.ts`. */
  isWarmUp: boolean;
  /** Fires at the request's deadline. */
  timer?: NodeJS.Timeout;
  /** Rejected then. */
  deadline?: Promise<never>;
  /** When a streamed response started, in milliseconds since the epoch. */
  firstByteAt?: number;
  /**
   * Whether a streamed body ended early: the store failed, or the client took nothing for too long. Lambda does not
   * report that a client has left: the stream runs to its end
   * (https://docs.aws.amazon.com/lambda/latest/dg/configuration-response-streaming.html).
   */
  isBroken?: boolean;
  /** The gateway's request id, which the client gets as `X-Request-Id`. */
  requestId: string;
  /** Header lines by lower-case name. */
  headers: ReadonlyMap<string, readonly string[]>;
  units: RequestUnits;
  /** Read units of the key lookup; 0 if the container knew the key. */
  keyReadUnits?: number;
  key?: VerifiedKey;
  /** As the client sent it, including the stage. */
  path: string;
  parameters: Record<string, unknown>;
  query: Record<string, unknown>;
  body: unknown;
  /** The versions in `If-Match`; `undefined` means any. */
  ifMatch?: readonly string[] | undefined;
  /** The client's `Idempotency-Key`, with its API key. Keys of one chain of rotations share their requests. */
  idempotencyKey?: string;
  clientRequestId?: string | undefined;
}

export interface HttpResponse {
  statusCode: number;
  headers: Record<string, string>;
  body: string | AsyncIterable<Uint8Array | string>;
}

/** A handler's successful reply: a document or a streamed list. */
export type Reply = DocumentReply | { readonly pages: Pages };

export interface DocumentReply {
  readonly body: unknown;
  /** Becomes the `ETag`, if present. */
  readonly version?: string;
  /** The cursor of the next page, which becomes the `next` link. */
  readonly next?: string | undefined;
  /** Whether an earlier request had the effect, which becomes `Idempotent-Replayed`. */
  readonly isReplay?: boolean | undefined;
}

export type Pages = AsyncGenerator<
  {
    /** Elements in JSON, separated by commas. */
    readonly items: Buffer;
    readonly isLast: boolean;
  },
  void,
  undefined
>;

export type OperationRequest = Request<
  APIGatewayProxyEvent,
  HttpResponse,
  Error,
  Context,
  RequestState
>;

/** A middleware: middy calls its steps in turn. After a throw, only `onError` runs. */
export type OperationMiddleware = {
  [Step in 'before' | 'after' | 'onError']?: (request: OperationRequest) => void | Promise<void>;
};

/** A header's value; several lines are joined as in RFC 9110 section 5.3. */
export function readHeader({ internal }: OperationRequest, name: string): string | undefined {
  return internal.headers.get(name)?.join(', ');
}
