import type { APIGatewayProxyEvent } from 'aws-lambda';
import fc from 'fast-check';
import { toProxyEvent } from '../../../infra/local/gateway/proxyEvent.ts';
import { operations } from '../../../shared/contract/operations.ts';
import { arbitraryRequest, type FuzzRequest } from './requests.ts';
import { allTexts, rawTexts, toWords } from './texts.ts';

/** What is sent, and how. */
export type FuzzCase = EventCase | SocketCase;

/** An event straight into the function of the request's operation. */
export interface EventCase {
  readonly transport: 'event';
  readonly request: FuzzRequest;
  readonly event: APIGatewayProxyEvent;
  /** Whether API Gateway can send it. Any other may be answered 500, with an Error body. */
  readonly isPossible: boolean;
  /** Whether Lambda's context is left out. */
  readonly withoutContext: boolean;
}

/** Bytes on a connection to the local stage. */
export interface SocketCase {
  readonly transport: 'socket';
  readonly request: FuzzRequest;
  /** Written one by one. */
  readonly chunks: readonly Buffer[];
  readonly framing: Framing;
}

/**
 * - `whole`: HTTP as it should be, which others can follow on the same connection
 * - `broken`: anything; it is answered, or its connection ends
 * - `half`: the client ends its side in the middle, and waits
 * - `left`: the client is gone at once, and hears nothing
 */
type Framing = 'whole' | 'broken' | 'half' | 'left';

/** What only a run knows. */
export interface RunFacts {
  /** The value of a request's placeholder, such as `write0` or `tag`. */
  resolve(placeholder: string, request: FuzzRequest): string;
  /** A new id for an event's request. */
  nextRequestId(): string;
}

/** A case before the run's keys, tags and ids are in it: the same seed gives the same draft. */
export type Draft = (facts: RunFacts) => FuzzCase;

/** Some 15 % go over connections: a function answers an event several times as fast. */
export function arbitraryDraft(petIds: readonly string[]): fc.Arbitrary<Draft> {
  return fc.oneof(
    { weight: 17, arbitrary: fc.tuple(arbitraryRequest(petIds), eventChange).map(toEventDraft) },
    { weight: 3, arbitrary: fc.tuple(arbitraryRequest(petIds), sending).map(toSocketDraft) },
  );
}

/** A case in one line. */
export function describeCase(one: FuzzCase): string {
  const sent = one.transport === 'event' ? describeEvent(one) : describeBytes(one);
  return sent.length > 3_000 ? `${sent.slice(0, 3_000)}… (${sent.length} characters)` : sent;
}

/** What the proxy integration has twice is left out. */
function describeEvent({ request, event, isPossible, withoutContext }: EventCase): string {
  const { headers, queryStringParameters, requestContext, ...shown } = event;
  const context = isPossible ? {} : { requestContext };
  const ending = withoutContext ? ' without a context' : '';
  return `${request.operationId}${ending}: ${JSON.stringify({ ...shown, ...context })}`;
}

function describeBytes({ framing, chunks }: SocketCase): string {
  return `${framing} bytes: ${chunks.map((chunk) => JSON.stringify(chunk.toString('latin1'))).join(' ')}`;
}

function fillIn(request: FuzzRequest, { resolve }: RunFacts): FuzzRequest {
  const fill = (text: string) =>
    text.replaceAll(/<<([a-z]+\d*)(?::(\d+))?>>/g, (_, name: string, length?: string) =>
      resolve(name, request).slice(0, length === undefined ? undefined : Number(length)),
    );
  return { ...request, headers: request.headers.map(([name, value]) => [name, fill(value)]) };
}

type MadeEvent = Pick<EventCase, 'event' | 'isPossible' | 'withoutContext'>;
type EventChange = (event: APIGatewayProxyEvent, body: Buffer | null) => MadeEvent;

function toEventDraft([draft, change]: [FuzzRequest, EventChange]): Draft {
  return (facts) => {
    const request = fillIn(draft, facts);
    const { operationId, petId, query, headers, body } = request;
    const { method, path: template } = operations[operationId];
    const path = petId === undefined ? template : template.replace('{petId}', () => petId);
    const event = toProxyEvent(
      {
        requestId: facts.nextRequestId(),
        // Not the request's own: API Gateway calls a function by its method and path alone.
        method,
        fullPath: `/v1${path}`,
        path,
        query: new URLSearchParams(query),
        headerLines: headers,
        sourceIp: '127.0.0.1',
      },
      template,
      petId === undefined ? {} : { petId: percentDecode(petId) },
      body === null ? null : body.toString('utf8'),
    );
    return { transport: 'event', request, ...change(event, body) };
  };
}

/** As API Gateway hands over a path's parameter. */
function percentDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const possible = (event: object): MadeEvent => ({
  event: event as APIGatewayProxyEvent,
  isPossible: true,
  withoutContext: false,
});

const queryNames = toWords('limit cursor status petId include __proto__');
const headerNames = toWords(
  'If-Match if-none-match Idempotency-Key X-Request-Id Origin Accept-Encoding Content-Type User-Agent',
);

/** What API Gateway sends now and then, such as no headers at all from its console. */
const variation = fc.tuple(fc.nat(6), fc.constantFrom(...allTexts), fc.nat(999)).map(
  ([kind, text, place]): EventChange =>
    (event, body) => {
      const name = headerNames[place % headerNames.length] ?? '';
      const changes = [
        { body: body?.toString('base64') ?? null, isBase64Encoded: true },
        { isBase64Encoded: true },
        { headers: null, multiValueHeaders: null },
        { pathParameters: event.pathParameters && { petId: text } },
        {
          multiValueQueryStringParameters: {
            [queryNames[place % queryNames.length] ?? '']: [text],
          },
        },
        { body: text },
        {
          multiValueHeaders: {
            ...event.multiValueHeaders,
            [name]: [text, ''].slice(0, 1 + (place % 2)),
          },
        },
      ];
      return possible({ ...event, ...changes[kind] });
    },
);

const strange = [undefined, null, 0, '', 'text', [], {}, true, [null], [[]], [{}], [5]];

/** What API Gateway never sends. */
const breakage = fc.tuple(fc.nat(7), fc.constantFrom(...strange), fc.nat(9)).map(
  ([kind, value, place]): EventChange =>
    (event) => {
      const changes = [
        { multiValueHeaders: { ...event.multiValueHeaders, Authorization: value } },
        { multiValueHeaders: value },
        { requestContext: value },
        { multiValueQueryStringParameters: value },
        { multiValueQueryStringParameters: { limit: value } },
        { pathParameters: value },
        { pathParameters: { petId: value } },
        { body: value },
      ];
      return {
        ...possible({ ...event, ...changes[kind] }),
        isPossible: false,
        withoutContext: place === 0,
      };
    },
);

const eventChange: fc.Arbitrary<EventChange> = fc.oneof(
  { weight: 70, arbitrary: fc.constant(possible) },
  { weight: 27, arbitrary: variation },
  { weight: 3, arbitrary: breakage },
);

/** How the length of a body is told. */
type Frame = (content: Buffer) => { lines: string[]; content: Buffer; isSound: boolean };

const soundFrame: Frame = (content) => ({
  lines: content.length > 0 ? [`Content-Length: ${content.length}`] : [],
  content,
  isSound: true,
});

const chunkedFrame: Frame = (content) => ({
  lines: ['Transfer-Encoding: chunked'],
  content: Buffer.concat([
    ...(content.length > 0 ? [Buffer.from(`${content.length.toString(16)}\r\n`), content] : []),
    Buffer.from(`${content.length > 0 ? '\r\n' : ''}0\r\n\r\n`),
  ]),
  isSound: true,
});

const wrongLines: readonly ((length: number) => string[])[] = [
  (length) => [`Content-Length: ${length + 5}`],
  (length) => [`Content-Length: ${Math.max(0, length - 5)}`],
  (length) => [`Content-Length: ${length}`, `Content-Length: ${length}`],
  (length) => [`Content-Length: ${length}`, 'Content-Length: 1'],
  (length) => [`Content-Length: ${length}`, 'Transfer-Encoding: chunked'],
  (length) => ['Expect: 100-continue', `Content-Length: ${length}`],
  (length) => ['Expect: x', `Content-Length: ${length}`],
  () => ['Content-Length: -1'],
  () => ['Content-Length: 1e1'],
  () => ['Content-Length: 99999999'],
  () => ['Content-Length: 5', '', ''],
  () => ['Transfer-Encoding: chunked'],
  () => ['Transfer-Encoding: gzip, chunked'],
  () => ['Transfer-Encoding : chunked'],
  () => ['Transfer-Encoding: x'],
  () => ['X-Folded: a', ' b'],
  () => ['No colon'],
  () => [': no name'],
  () => ['Connection: close'],
  () => ['Connection: upgrade', 'Upgrade: websocket'],
  () => [`X-Huge: ${'x'.repeat(20_000)}`],
  () => Array.from({ length: 3_000 }, (_, line) => `X${line}: `),
];

const frame: fc.Arbitrary<Frame> = fc.oneof(
  { weight: 75, arbitrary: fc.constant(soundFrame) },
  { weight: 8, arbitrary: fc.constant(chunkedFrame) },
  {
    weight: 17,
    arbitrary: fc
      .tuple(fc.constantFrom(...wrongLines), fc.constantFrom(soundFrame, chunkedFrame))
      .map(
        ([toLines, toFrame]): Frame =>
          (content) => ({
            lines: toLines(content.length),
            content: toFrame(content).content,
            isSound: false,
          }),
      ),
  },
);

const notHttp = [
  ...['', '\n', '\r\n\r\n', 'GET', 'GET / HTTP/9.9\r\n\r\n', 'GET /v1/inventory\r\n\r\n'],
  ...['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ...['\x00\x00\x00', '{"forged":true}\n', 'GET  /  HTTP/1.1\r\n\r\n'],
  ...['GET /v1/inventory HTTP/1.0\r\n\r\n', 'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n'],
  ...['CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n', 'GET /docs/ HTTP/1.1\r\nHost: x\r\n\r\n'],
  ...['GET http://x/v1/inventory HTTP/1.1\r\nHost: x\r\n\r\n'],
  ...['GET /%00 HTTP/1.1\r\nHost: x\r\n\r\n'],
];

type Sent = Pick<SocketCase, 'chunks' | 'framing'>;
type Cut = (whole: Sent, bytes: Buffer, at: number) => Sent;

const cuts: readonly Cut[] = [
  (_, bytes, at) => ({ chunks: [bytes.subarray(0, at)], framing: 'half' }),
  (_, bytes, at) => ({ chunks: [bytes.subarray(0, at)], framing: 'left' }),
  (whole, bytes) => (bytes.includes('PATCH') ? whole : { chunks: [bytes], framing: 'left' }),
  (_, bytes, at) => {
    const place = Math.min(at, 200);
    const text = Buffer.from(rawTexts[at % rawTexts.length] ?? '');
    const chunks = [Buffer.concat([bytes.subarray(0, place), text, bytes.subarray(place)])];
    return { chunks, framing: 'broken' };
  },
  (_, __, at) => ({
    chunks: [Buffer.from(notHttp[at % notHttp.length] ?? '', 'latin1')],
    framing: 'half',
  }),
  // What comes behind a request may not take the place of its answer.
  (_, bytes) => ({ chunks: [bytes, Buffer.from('no HTTP\r\n\r\n')], framing: 'broken' }),
  ({ framing }, bytes, at) => ({ chunks: [bytes.subarray(0, at), bytes.subarray(at)], framing }),
  ({ framing }, bytes, at) => ({ chunks: [bytes.subarray(0, at), bytes.subarray(at)], framing }),
];

const sending = fc.tuple(
  frame,
  fc.oneof(
    { weight: 8, arbitrary: fc.constant(undefined) },
    { weight: 2, arbitrary: fc.constantFrom(...cuts) },
  ),
  fc.nat(99_999),
);

function toSocketDraft([draft, [toFrame, cut, place]]: [
  FuzzRequest,
  [Frame, Cut | undefined, number],
]): Draft {
  return (facts) => {
    const request = fillIn(draft, facts);
    const { method, path, query, headers } = request;
    const { lines, content, isSound } = toFrame(request.body ?? Buffer.alloc(0));
    const head = [
      `${method} /v1${path}${query === '' ? '' : `?${query}`} HTTP/1.1`,
      ...headers.map((line) => line.join(': ')),
      ...lines,
    ];
    const start = Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1');
    const whole: Sent = {
      chunks: content.length > 0 ? [start, content] : [start],
      framing: isSound && isPlain(request) ? 'whole' : 'broken',
    };
    const bytes = Buffer.concat(whole.chunks);
    const sent = cut ? cut(whole, bytes, place % bytes.length) : whole;
    return { transport: 'socket', request, ...sent };
  };
}

/** Whether Node.js reads it as one request, so that the next one on the connection is another. */
function isPlain({ method, path, query, headers }: FuzzRequest): boolean {
  return (
    /^(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|PURGE)$/.test(method) &&
    /^\/[\x21-\x7e]*$/.test(`/${path}`) &&
    /^[\x21-\x7e]*$/.test(query) &&
    headers.every(
      ([name, value]) => /^[\w-]+$/.test(name) && /^[\t\x20-\x7e\xa0-\xff]*$/.test(value),
    ) &&
    headers.reduce((sum, line) => sum + line.join().length, 0) < 12_000
  );
}
