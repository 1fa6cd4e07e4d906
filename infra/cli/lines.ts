import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';

/** The longest record: DynamoDB takes 400 KB, and JSON is longer than its records. */
const MAX_LINE_CHARACTERS = 409_600;

export interface Line {
  /** From 1. */
  readonly number: number;
  readonly text: string;
}

/**
 * The lines of a file, in chunks of some thousands. Memory does not grow with the file. A name that ends in `.gz` is
 * decompressed. Lines end in LF or CRLF; a byte order mark is dropped.
 * @throws {Error} that names the file if it is not UTF-8 text
 */
export async function* readLines(file: string): AsyncGenerator<Line[], void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const packed = createReadStream(file);
  const bytes = isGzip(file) ? pipeline(packed, createGunzip(), () => {}) : packed;
  let number = 0;
  let rest = '';
  const toLine = (text: string): Line => {
    number += 1;
    return { number, text };
  };
  try {
    for await (const chunk of bytes) {
      const texts = (rest + decoder.decode(chunk, { stream: true })).split(/\r?\n/);
      rest = texts.pop() ?? '';
      yield texts.map(toLine);
      if (rest.length > MAX_LINE_CHARACTERS) {
        throw new Error(`line ${number + 1} is longer than any record`);
      }
    }
    rest += decoder.decode();
  } catch (error) {
    throw new Error(`${file} cannot be read: ${(error as Error).message}.`);
  }
  if (rest !== '') yield [toLine(rest)];
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
