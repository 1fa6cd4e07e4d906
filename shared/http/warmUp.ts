import { Writable } from 'node:stream';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import type { Operation } from '../contract/operation.ts';
import { mintApiKey } from '../keys/apiKey.ts';
import { logError } from '../runtime/logger.ts';
import { MARGIN } from './requestTime.ts';

/** What the request that warms a function up asks for. It must change nothing, whatever there is. */
export interface WarmUpRequest {
  readonly pathParameters?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** An id that nobody gives to anything: the least of all. */
export const MIN_ID = '-9223372036854775808';

/** Milliseconds. A database that does not answer delays a cold start by no more. */
const TIMEOUT = 1_000;

/** A client's event comes as JSON, in which nothing has a symbol for a name. */
const mark = Symbol('warm-up');

/** Whether it is no client that asks. */
export function isWarmUp(event: object): boolean {
  return Object.hasOwn(event, mark);
}

/**
 * Makes what a cold start awaits before it takes requests: one request through the whole of the handler and over
 * the network, since Lambda runs INIT on a whole processor, and a first request on a share of one. Its key is
 * made this moment and nobody's; that it is not known is what `authenticate` overlooks. It logs no request line,
 * and where it fails one error, and nothing else comes of that.
 */
export function defineWarmUp(
  { streamed }: Operation,
  handler: (event: never, ...rest: never[]) => Promise<unknown>,
  request: WarmUpRequest = {},
): () => Promise<void> {
  return async function warmUp() {
    // What the request keeps in its asynchronous context stays in there.
    await undefined;
    try {
      const rest = streamed ? [openSink(), context] : [context];
      await handler(toEvent(request) as never, ...(rest as never[]));
    } catch (error) {
      logError({ requestId: context.awsRequestId }, error);
    }
  };
}

const context = {
  awsRequestId: 'warm-up',
  getRemainingTimeInMillis: () => TIMEOUT + MARGIN,
} as Context;

function toEvent({ pathParameters, query = {}, headers, body }: WarmUpRequest) {
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

/** Takes what a streamed answer sends, as Lambda's own stream does, to nowhere. */
function openSink(): Writable {
  const sink = new Writable({ write: (_chunk, _encoding, done) => done() });
  return Object.assign(sink, { setContentType() {} });
}
