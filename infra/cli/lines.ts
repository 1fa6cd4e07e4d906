import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';

/** More bytes than this cannot be one record: DynamoDB takes 400 KB, and JSON is longer than its records. */
export const MAX_LINE_BYTES = 409_600;
const LINE_FEED = 10;
const CHUNK_BYTES = 65_536;

export interface Line {
  /** From 1. */
  readonly number: number;
  readonly text: string;
  /** Why the line cannot be read; its text is then a guess, or empty where it is too long. */
  readonly problem?: string;
}

/**
 * The lines of a file of any size, gzip or not, some thousands at a time, in memory that does not grow with the
 * file. Lines end in LF or CRLF, the last one also in nothing; a byte order mark is dropped.
 */
export async function* readLines(file: string): AsyncGenerator<Line[], void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let number = 0;
  let begun: Buffer[] = [];
  let begunBytes = 0;

  function begin(part: Buffer): void {
    begunBytes += part.length;
    if (begunBytes <= MAX_LINE_BYTES) begun.push(part);
  }

  function end(part: Buffer): Line {
    begin(part);
    const length = begunBytes;
    const line = begun.length === 1 ? part : Buffer.concat(begun);
    begun = [];
    begunBytes = 0;
    number += 1;
    if (length > MAX_LINE_BYTES) {
      return { number, text: '', problem: `is longer than ${MAX_LINE_BYTES} bytes` };
    }
    try {
      const text = decoder.decode(line);
      return { number, text: tidy(text, number) };
    } catch {
      return { number, text: line.toString(), problem: 'is not UTF-8 text' };
    }
  }

  for await (const chunk of readChunks(file)) {
    const lines: Line[] = [];
    let start = 0;
    for (let stop = 0; ; start = stop + 1) {
      stop = chunk.indexOf(LINE_FEED, start);
      if (stop === -1) break;
      lines.push(end(chunk.subarray(start, stop)));
    }
    if (start < chunk.length) begin(chunk.subarray(start));
    yield lines;
  }
  if (begunBytes > 0) yield [end(Buffer.alloc(0))];
}

const quotedOrPlain = /("(?:[^"]|"")*"|[^",]*)(,|$)/y;

/**
 * The fields of one line of CSV (RFC 4180); a quoted field cannot go on in the next line.
 * Returns `undefined` when the quotes do not match.
 */
export function parseCsvLine(line: string): string[] | undefined {
  if (!line.includes('"')) return line.split(',');
  const fields: string[] = [];
  quotedOrPlain.lastIndex = 0;
  for (;;) {
    const [, field, separator] = quotedOrPlain.exec(line) ?? [];
    if (field === undefined) return undefined;
    fields.push(field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field);
    if (separator === '') return fields;
  }
}

export function isGzip(file: string): boolean {
  return /\.gz$/i.test(file);
}

/** The bytes of a file, unpacked if it is gzip by its name. @throws {Error} that names the file */
async function* readChunks(file: string): AsyncGenerator<Buffer, void, undefined> {
  const packed = createReadStream(file, { highWaterMark: CHUNK_BYTES });
  const gunzip = isGzip(file) ? createGunzip({ chunkSize: CHUNK_BYTES }) : undefined;
  try {
    yield* gunzip ? pipeline(packed, gunzip, () => {}) : packed;
  } catch (error) {
    throw new Error(`${file} cannot be read: ${(error as Error).message}.`);
  }
}

function tidy(text: string, number: number): string {
  const whole = text.endsWith('\r') ? text.slice(0, -1) : text;
  return number === 1 && whole.startsWith('\uFEFF') ? whole.slice(1) : whole;
}
