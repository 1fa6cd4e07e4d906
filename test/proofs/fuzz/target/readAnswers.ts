import type { WholeAnswer } from '../../../../infra/openapi/answerProblems.ts';

/** What a connection's bytes hold so far. */
export interface ReadAnswers {
  readonly answers: readonly WholeAnswer[];
  /** Bytes behind the last whole answer. */
  readonly rest: Buffer;
}

const emptyLine = Buffer.from('\r\n\r\n');

/**
 * Reads the answers to requests with these methods, in their order; past the last, as to a GET.
 * @param isClosed whether no more is to come, which is how an answer to HTTP/1.0 may end
 * @throws {Error} when the bytes are no HTTP
 */
export function readAnswers(
  bytes: Buffer,
  methods: readonly string[],
  isClosed = false,
): ReadAnswers {
  const answers: WholeAnswer[] = [];
  let rest = bytes;
  for (;;) {
    const end = rest.indexOf(emptyLine);
    if (end < 0) return { answers, rest };
    const { status, headers } = readHead(rest.toString('latin1', 0, end));
    const behind = rest.subarray(end + emptyLine.length);
    if (status >= 100 && status < 200) {
      rest = behind;
      continue;
    }
    const isEmpty = status === 204 || status === 304 || methods[answers.length] === 'HEAD';
    const body = isEmpty
      ? { bytes: Buffer.alloc(0), length: 0 }
      : readBody(behind, headers, isClosed);
    if (!body) return { answers, rest };
    answers.push({ status, headers, bytes: body.bytes });
    rest = behind.subarray(body.length);
  }
}

function readHead(text: string): { status: number; headers: Headers } {
  const [first = '', ...lines] = text.split('\r\n');
  const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(first) ?? [];
  if (status === undefined)
    throw new Error(`An answer begins with ${JSON.stringify(first.slice(0, 80))}.`);
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return { status: Number(status), headers };
}

/** @returns nothing while the body is not whole, else it and its length on the connection */
function readBody(bytes: Buffer, headers: Headers, isClosed: boolean) {
  if (headers.get('transfer-encoding') === 'chunked') return readChunks(bytes);
  const length = Number(headers.get('content-length') ?? (isClosed ? bytes.length : Infinity));
  return bytes.length < length ? undefined : { bytes: bytes.subarray(0, length), length };
}

function readChunks(bytes: Buffer) {
  const chunks: Buffer[] = [];
  let at = 0;
  for (;;) {
    const line = bytes.indexOf('\r\n', at);
    if (line < 0) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16);
    const next = line + 2 + size + 2;
    if (Number.isNaN(size)) throw new Error('An answer has a chunk without a size.');
    if (bytes.length < next) return undefined;
    if (size === 0) return { bytes: Buffer.concat(chunks), length: next };
    chunks.push(bytes.subarray(line + 2, line + 2 + size));
    at = next;
  }
}
