import type { APIGatewayProxyEvent } from 'aws-lambda';
import fc from 'fast-check';
import { toProxyEvent } from '../../../infra/gateway/proxyEvent.ts';
import { operations } from '../../../shared/contract/operations.ts';
import { arbitraryRequest, type FuzzRequest, pick, rarely, text } from './requests.ts';

export type FuzzCase = EventCase | SocketCase;

/** An event straight into the function of the request's operation. */
export interface EventCase {
  readonly transport: 'event';
  readonly request: FuzzRequest;
  readonly event: APIGatewayProxyEvent;
  /** Whether API Gateway can send it. Any other may get a 500 with an Error body. */
  readonly isPossible: boolean;
}

/** Bytes on a connection to the local stage. */
export interface SocketCase {
  readonly transport: 'socket';
  readonly request: FuzzRequest;
  readonly chunks: readonly Buffer[];
  readonly framing: Framing;
}

/**
 * - `whole`: valid HTTP
 * - `broken`: any bytes; they get a response, or the connection ends
 * - `half`: the client ends its side in the middle, and waits
 * - `left`: the client leaves at once and reads nothing
 */
type Framing = 'whole' | 'broken' | 'half' | 'left';

/** Values that only a run knows. */
export interface RunFacts {
  /** The value of a placeholder in a request, such as `write0` or `tag`. */
  resolve(placeholder: string, request: FuzzRequest): string;
  nextRequestId(): string;
}

/** A case without the run's keys, tags and ids: the same seed gives the same draft. */
type Draft = (facts: RunFacts) => FuzzCase;

/** Some 15 % go over connections: a function handles events several times as fast. */
export function arbitraryDraft(petIds: readonly string[]): fc.Arbitrary<Draft> {
  const request = arbitraryRequest(petIds);
  return fc.oneof(
    { weight: 17, arbitrary: toEventDrafts(request) },
    { weight: 3, arbitrary: toSocketDrafts(request) },
  );
}

export function describeCase(one: FuzzCase): string {
  const sent =
    one.transport === 'event'
      ? `${one.request.operationId}: ${JSON.stringify(one.event)}`
      : `${one.framing} bytes: ${one.chunks.map((chunk) => JSON.stringify(chunk.toString('latin1'))).join(' ')}`;
  return sent.length > 3_000 ? `${sent.slice(0, 3_000)}… (${sent.length} characters)` : sent;
}

function fillIn(request: FuzzRequest, { resolve }: RunFacts): FuzzRequest {
  const fill = (value: string) =>
    value.replaceAll(/<<([a-z]+\d*)>>/g, (_, name: string) => resolve(name, request));
  return { ...request, headers: request.headers.map(([name, value]) => [name, fill(value)]) };
}

type Members = (event: APIGatewayProxyEvent) => object;

/** Events that API Gateway sends now and then, such as those without headers from its console. */
const variation = pick<Members>(
  ({ body }) => ({ body: body && Buffer.from(body).toString('base64'), isBase64Encoded: true }),
  () => ({ isBase64Encoded: true }),
  () => ({ headers: null, multiValueHeaders: null }),
);

/** Events that it never sends. */
const breakage = fc
  .tuple(
    pick<(value: unknown) => object>(
      (Authorization) => ({ multiValueHeaders: { Authorization } }),
      (multiValueHeaders) => ({ multiValueHeaders }),
      (requestContext) => ({ requestContext }),
      (multiValueQueryStringParameters) => ({ multiValueQueryStringParameters }),
      (limit) => ({ multiValueQueryStringParameters: { limit } }),
      (pathParameters) => ({ pathParameters }),
      (petId) => ({ pathParameters: { petId } }),
      (body) => ({ body }),
    ),
    pick<unknown>(undefined, null, 0, '', 'text', [], {}, true, [null], [[]], [{}], [5]),
  )
  .map(([toMembers, value]) => toMembers(value));

const eventChange = fc.record({ variation: rarely(variation), breakage: rarely(breakage, 32) });

function toEventDrafts(requests: fc.Arbitrary<FuzzRequest>) {
  return fc.tuple(requests, eventChange).map(
    ([draft, change]): Draft =>
      (facts) => {
        const request = fillIn(draft, facts);
        const { operationId, petId, query, headers, body } = request;
        const { method, path: template } = operations[operationId];
        const path = template.replace('{petId}', () => petId ?? '');
        const event = toProxyEvent(
          {
            requestId: facts.nextRequestId(),
            // The operation's method, not the request's: API Gateway chooses a function by method and path.
            method,
            path,
            query: new URLSearchParams(query),
            headerLines: headers,
            sourceIp: '127.0.0.1',
          },
          template,
          body === null ? null : body.toString('utf8'),
        );
        return {
          transport: 'event',
          request,
          event: { ...event, ...change.variation?.(event), ...change.breakage },
          isPossible: change.breakage === undefined,
        };
      },
  );
}

/** Header lines that leave open, or state wrongly, where the request ends. */
const wrongLines: readonly ((length: number) => readonly string[])[] = [
  (length) => [`Content-Length: ${length + 5}`],
  (length) => [`Content-Length: ${Math.max(0, length - 5)}`],
  (length) => [`Content-Length: ${length}`, 'Content-Length: 1'],
  (length) => [`Content-Length: ${length}`, 'Transfer-Encoding: chunked'],
  (length) => ['Expect: 100-continue', `Content-Length: ${length}`],
  (length) => ['Expect: x', `Content-Length: ${length}`],
  () => ['Content-Length: -1'],
  () => ['Content-Length: 99999999'],
  () => ['Content-Length: 5', '', ''],
  () => ['Transfer-Encoding: gzip, chunked'],
  () => ['Transfer-Encoding : chunked'],
  () => ['X-Folded: a', ' b'],
  () => ['No colon'],
  () => ['Connection: upgrade', 'Upgrade: websocket'],
  () => [`X-Huge: ${'x'.repeat(20_000)}`],
  () => Array.from({ length: 3_000 }, (_, line) => `X${line}: `),
];

function toChunked(content: Buffer): Buffer {
  if (content.length === 0) return Buffer.from('0\r\n\r\n');
  const size = content.length.toString(16);
  return Buffer.concat([Buffer.from(`${size}\r\n`), content, Buffer.from('\r\n0\r\n\r\n')]);
}

const notHttp = [
  ...['', '\n', '\r\n\r\n', 'GET', 'GET / HTTP/9.9\r\n\r\n', 'GET /v1/inventory\r\n\r\n'],
  ...['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ...['{"forged":true}\n', 'GET  /  HTTP/1.1\r\n\r\n', 'GET /v1/inventory HTTP/1.0\r\n\r\n'],
  ...['OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n', 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n'],
  'GET http://x/v1/inventory HTTP/1.1\r\nHost: x\r\n\r\n',
];

type Sent = Pick<SocketCase, 'chunks' | 'framing'>;
type Cut = (bytes: Buffer, at: number, framing: Framing) => Sent;

/** Bytes that may follow a request, but must not change its response. */
const followers = ['no HTTP\r\n\r\n', 'GET /v1/inventory/1 HTTP/1.1\r\nHost: x\r\n\r\n'];

const cut = fc.oneof(
  pick<Cut>(
    (bytes, at) => ({ chunks: [bytes.subarray(0, at)], framing: 'half' }),
    (bytes, at) => ({ chunks: [bytes.subarray(0, at)], framing: 'left' }),
    (bytes, _, framing) => ({
      chunks: [bytes],
      framing: bytes.includes('PATCH') ? framing : 'left',
    }),
    (bytes, at, framing) => ({ chunks: [bytes.subarray(0, at), bytes.subarray(at)], framing }),
  ),
  pick(...notHttp).map((other): Cut => {
    return () => ({ chunks: [Buffer.from(other, 'latin1')], framing: 'half' });
  }),
  pick(...followers).map((follower): Cut => {
    return (bytes) => ({ chunks: [bytes, Buffer.from(follower)], framing: 'broken' });
  }),
  text.map((inserted): Cut => {
    return (bytes, at) => {
      const parts = [bytes.subarray(0, at % 200), inserted, bytes.subarray(at % 200)];
      return { chunks: [Buffer.from(parts.join(''))], framing: 'broken' };
    };
  }),
);

const sending = fc.record({
  toWrongLines: rarely(pick(...wrongLines)),
  isChunked: rarely(pick(true)),
  cut: rarely(cut),
  place: fc.nat(99_999),
});

function toSocketDrafts(requests: fc.Arbitrary<FuzzRequest>) {
  return fc.tuple(requests, sending).map(
    ([draft, change]): Draft =>
      (facts) => {
        const { toWrongLines, isChunked, cut, place } = change;
        const request = fillIn(draft, facts);
        const { method, path, query, headers, body } = request;
        const content = body ?? Buffer.alloc(0);
        const soundLine = isChunked
          ? 'Transfer-Encoding: chunked'
          : `Content-Length: ${content.length}`;
        const head = [
          `${method} /v1${path}${query === '' ? '' : `?${query}`} HTTP/1.1`,
          ...headers.map((line) => line.join(': ')),
          ...(toWrongLines?.(content.length) ?? [soundLine]),
        ];
        const start = Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1');
        const bytes = Buffer.concat([start, isChunked ? toChunked(content) : content]);
        const framing = !toWrongLines && isPlain(request) ? 'whole' : 'broken';
        const sent = cut?.(bytes, place % bytes.length, framing) ?? { chunks: [bytes], framing };
        return { transport: 'socket', request, ...sent };
      },
  );
}

/** Whether Node.js parses it as one request. */
function isPlain({ method, path, query, headers }: FuzzRequest): boolean {
  return (
    method !== 'TRACE' &&
    method !== 'FOO' &&
    /^[\x21-\x7e]*$/.test(`${path}${query}`) &&
    headers.every(
      ([name, value]) => /^[\w-]+$/.test(name) && /^[\t\x20-\x7e\xa0-\xff]*$/.test(value),
    ) &&
    headers.reduce((sum, line) => sum + line.join().length, 0) < 12_000
  );
}
