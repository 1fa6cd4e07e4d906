import { Writable } from 'node:stream';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import type { Operation } from '../contract/operation.ts';
import { mintApiKey } from '../keys/apiKey.ts';
import { logError } from '../runtime/logger.ts';
import { MARGIN } from './requestTime.ts';

/** The request that warms a function up, with the operation's `harmlessBody`. It must never change anything. */
export interface WarmUpRequest {
  readonly pathParameters?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Milliseconds. An unresponsive database delays a cold start by no more. */
const TIMEOUT = 1_000;

/** A client's event is JSON, which cannot have a symbol as a name. */
const mark = Symbol('warm-up');

export function isWarmUp(event: object): boolean {
  return Object.hasOwn(event, mark);
}

/**
 * Makes the warm-up that a cold start awaits before it takes requests: one request through the whole handler and over
 * the network. Lambda runs INIT on a full processor, but a first request on a share of one. The key is new and belongs
 * to nobody; `authenticate` lets the warm-up pass. It logs no request line. A failure only logs an error.
 */
export function defineWarmUp(
  { streamed, harmlessBody }: Operation,
  handler: (event: never, ...rest: never[]) => Promise<unknown>,
  request: WarmUpRequest = {},
): () => Promise<void> {
  return async function warmUp() {
    // Keeps the request's asynchronous context separate from the caller's.
    await undefined;
    try {
      const rest = streamed ? [openSink(), context] : [context];
      await handler(buildEvent(request, harmlessBody) as never, ...(rest as never[]));
    } catch (error) {
      logError({ requestId: context.awsRequestId }, error);
    }
  };
}

const context = {
  awsRequestId: 'warm-up',
  getRemainingTimeInMillis: () => TIMEOUT + MARGIN,
} as Context;

function buildEvent({ pathParameters, query = {}, headers }: WarmUpRequest, body?: string) {
  const { apiKey } = mintApiKey();
  const sent = {
    Authorization: `Bearer ${apiKey}`,
    'Content-Type': 'application/json',
    ...headers,
  };
  return {
    [mark]: true,
    pathParameters,
    multiValueQueryStringParameters: toLists(query),
    multiValueHeaders: toLists(sent),
    body: body ?? null,
  } as unknown as APIGatewayProxyEvent;
}

function toLists(values: Readonly<Record<string, string>>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, [value]]));
}

/** Discards a streamed response, with the interface of Lambda's own stream. */
function openSink(): Writable {
  const sink = new Writable({ write: (_chunk, _encoding, done) => done() });
  return Object.assign(sink, { setContentType() {} });
}
