import type { Request } from '@middy/core';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import type { VerifiedKey } from '../keys/keyVerifier.ts';
import type { RequestUnits } from '../runtime/requestUnits.ts';

/** What the middleware learns of a request on its way to the handler. */
export interface RequestState extends Record<string, unknown> {
  /** Milliseconds since the epoch. */
  startedAt: number;
  /** Whether it is the function's own: see `warmUp.ts`. */
  isWarmUp: boolean;
  /** Runs until the request's deadline. */
  timer?: NodeJS.Timeout;
  /** Ends what the request waits for. */
  expire?: (error: Error) => void;
  /** When a streamed answer began, in milliseconds since the epoch. */
  firstByteAt?: number;
  /** The gateway's id of the request, which the client gets as `X-Request-Id`. */
  requestId: string;
  /** Header lines by lower-case name. */
  headers: ReadonlyMap<string, readonly string[]>;
  /** What the request has consumed so far. */
  units: RequestUnits;
  /** What of them the lookup of the key was; 0 where the container knew the key. */
  keyReadUnits?: number;
  key?: VerifiedKey;
  /** As the client wrote it, the stage included. */
  path: string;
  parameters: Record<string, unknown>;
  query: Record<string, unknown>;
  body: unknown;
  /** The versions that `If-Match` names; `undefined` when any will do. */
  ifMatch?: readonly string[] | undefined;
  /** Names the request among all that are sent with an `Idempotency-Key`. */
  idempotencyKey?: string;
  /** The client's own name for the request. */
  clientRequestId?: string | undefined;
}

export interface HttpResponse {
  statusCode: number;
  headers: Record<string, string>;
  body: string | NodeJS.ReadableStream;
}

export type OperationRequest = Request<
  APIGatewayProxyEvent,
  HttpResponse,
  Error,
  Context,
  RequestState
>;

/** A middleware whose parts middy calls in turn; after a throw only `onError` runs. */
export interface OperationMiddleware {
  before?(request: OperationRequest): void | Promise<void>;
  after?(request: OperationRequest): void | Promise<void>;
  onError?(request: OperationRequest): void | Promise<void>;
}

/** A header's value, several lines of it joined as RFC 9110 section 5.3 says. */
export function toHeader({ internal }: OperationRequest, name: string): string | undefined {
  return internal.headers.get(name)?.join(', ');
}

/** Adds headers to the response that is on its way, if there is one; `Vary` to what it varies by. */
export function addHeaders({ response }: OperationRequest, headers: Record<string, string>): void {
  if (!response) return;
  const { Vary } = response.headers;
  Object.assign(response.headers, headers);
  if (Vary && headers.Vary) response.headers.Vary = `${Vary}, ${headers.Vary}`;
}
