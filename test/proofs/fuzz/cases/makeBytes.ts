import type { SocketCase } from './fuzzCase.ts';
import type { FuzzRequest } from './fuzzRequest.ts';
import type { Random } from './random.ts';
import { rawTexts } from './texts.ts';

type Made = Pick<SocketCase, 'chunks' | 'framing'>;

/** The bytes of a request, as they should be or not. */
export function makeBytes(random: Random, request: FuzzRequest): Made {
  const { chunks, isSound, waits } = toBytes(random, request);
  // Nobody has to wait for more that does not come.
  if (waits) return { chunks, framing: 'half' };
  const whole: Made = { chunks, framing: isSound && isPlain(request) ? 'whole' : 'broken' };
  if (random.chance(0.8)) return whole;
  const bytes = Buffer.concat(chunks);
  const cut = bytes.subarray(0, random.below(bytes.length));
  switch (random.below(8)) {
    case 0:
      return { chunks: [cut], framing: 'half' };
    case 1:
      return { chunks: [cut], framing: 'left' };
    case 2:
      return request.method === 'GET' ? { chunks: [bytes], framing: 'left' } : whole;
    case 3:
      return { chunks: [withText(random, bytes)], framing: 'broken' };
    case 4:
      return { chunks: [Buffer.from(random.pick(noHttp), 'latin1')], framing: 'half' };
    case 5:
      // What comes behind a request may not take the place of its answer.
      return { chunks: [bytes, Buffer.from('no HTTP\r\n\r\n')], framing: 'broken' };
    default: {
      const at = random.below(bytes.length);
      return { chunks: [bytes.subarray(0, at), bytes.subarray(at)], framing: whole.framing };
    }
  }
}

function toBytes(random: Random, { method, path, query, headers, body }: FuzzRequest) {
  const target = `/v1${path}${query === '' ? '' : `?${query}`}`;
  const { lines, content, isSound } = frame(random, body);
  const [, length] = /^Content-Length: (\d+)$/.exec(lines[0] ?? '') ?? [];
  const isChunked = lines[0] === 'Transfer-Encoding: chunked';
  const waits = isChunked ? !isSound : Number(length ?? 0) > content.length;
  const head = [
    `${method} ${target} HTTP/1.1`,
    ...headers.map((line) => line.join(': ')),
    ...lines,
  ];
  const start = Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1');
  return { chunks: content.length === 0 ? [start] : [start, content], isSound, waits };
}

/** How long the body is, said well, in pieces, or wrongly. */
function frame(random: Random, body: Buffer | null) {
  const content = body ?? Buffer.alloc(0);
  const sound = {
    lines: body ? [`Content-Length: ${content.length}`] : [],
    content,
    isSound: true,
  };
  const chunked = Buffer.from(
    `${content.length.toString(16)}\r\n${content.toString('latin1')}\r\n0\r\n\r\n`,
    'latin1',
  );
  if (random.chance(0.75)) return sound;
  if (content.length > 0 && random.chance(0.5)) {
    return { lines: ['Transfer-Encoding: chunked'], content: chunked, isSound: true };
  }
  const lines = random.pick([
    [`Content-Length: ${content.length + 1 + random.below(10)}`],
    [`Content-Length: ${Math.max(0, content.length - 1 - random.below(10))}`],
    [`Content-Length: ${content.length}`, `Content-Length: ${content.length}`],
    [`Content-Length: ${content.length}`, 'Content-Length: 1'],
    ['Content-Length: -1'],
    ['Content-Length: 1e1'],
    ['Content-Length: 99999999'],
    [`Content-Length: ${content.length}`, 'Transfer-Encoding: chunked'],
    ['Transfer-Encoding: chunked'],
    ['Transfer-Encoding: gzip, chunked'],
    ['Transfer-Encoding : chunked'],
    ['Transfer-Encoding: x'],
    ['Content-Length: 5', '', ''],
    ['X-Folded: a', ' b'],
    ['No colon'],
    [': no name'],
    ['Connection: close'],
    ['Connection: upgrade', 'Upgrade: websocket'],
    ['Expect: 100-continue', `Content-Length: ${content.length}`],
    ['Expect: x', `Content-Length: ${content.length}`],
    [`X-Huge: ${'x'.repeat(20_000)}`],
    Array.from({ length: 3_000 }, (_, line) => `X${line}: `),
  ]);
  return { lines, content: random.chance(0.5) ? content : chunked, isSound: false };
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

function withText(random: Random, bytes: Buffer): Buffer {
  const at = random.below(Math.min(bytes.length, 200));
  return Buffer.concat([
    bytes.subarray(0, at),
    Buffer.from(random.pick(rawTexts)),
    bytes.subarray(at),
  ]);
}

const noHttp = [
  ...[
    '',
    '\n',
    '\r\n\r\n',
    'GET',
    'GET / HTTP/9.9\r\n\r\n',
    'GET /v1/inventory\r\n\r\n',
    'GET  /  HTTP/1.1\r\n\r\n',
  ],
  ...[
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    '\x00\x00\x00',
    '{"forged":true}\n',
  ],
  ...[
    'GET /v1/inventory HTTP/1.0\r\n\r\n',
    'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n',
    'GET http://x/v1/inventory HTTP/1.1\r\nHost: x\r\n\r\n',
  ],
  ...[
    'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n',
    'GET /docs/ HTTP/1.1\r\nHost: x\r\n\r\n',
    'GET /%00 HTTP/1.1\r\nHost: x\r\n\r\n',
  ],
];
