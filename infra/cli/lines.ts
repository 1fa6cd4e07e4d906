import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';

/**
 * The lines of a file. Memory does not grow with the file. A name that ends in `.gz` is decompressed. Lines
 * end in LF or CRLF; a byte order mark is dropped.
 * @throws {Error} that names the file if it is not UTF-8 text, or once the signal is aborted
 */
export async function* readLines(file: string, signal?: AbortSignal): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const packed = createReadStream(file, { signal });
  const bytes = /\.gz$/i.test(file) ? pipeline(packed, createGunzip(), () => {}) : packed;
  let rest = '';
  try {
    for await (const chunk of bytes) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r?\n/);
      rest = lines.pop() ?? '';
      yield* lines;
    }
    rest += decoder.decode();
  } catch (error) {
    throw new Error(`${file} cannot be read: ${(error as Error).message}.`);
  }
  if (rest !== '') yield rest;
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
