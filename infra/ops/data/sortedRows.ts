import { createReadStream } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';

/** How much is sorted in memory at a time: a row takes some 150 bytes beside its characters. */
const PART_BYTES = 8_000_000;
const ROW_BYTES = 150;
/** How much of each part is read at a time. There can be hundreds of parts. */
const READ_BYTES = 16_384;

interface Row {
  readonly id: bigint;
  readonly line: string;
}

/** By id; orders of one id differ in their time. */
function compare(one: Row, other: Row): number {
  if (one.id !== other.id) return one.id < other.id ? -1 : 1;
  return one.line < other.line ? -1 : 1;
}

interface Head {
  readonly row: Row;
  readonly rest: Iterator<Row> | AsyncIterator<Row>;
}

/** Takes the next row of a part, if there is one, and puts the part in its place. */
async function take(heads: Head[], rest: Head['rest']): Promise<void> {
  const { done, value: row } = await rest.next();
  if (done) return;
  const before = heads.findLastIndex((head) => compare(row, head.row) < 0);
  heads.splice(before + 1, 0, { row, rest });
}

/** The id of a row is its first number, in CSV and in JSON. */
function parseRow(line: string): Row {
  const [digits = ''] = /-?\d+/.exec(line) ?? [];
  return { id: BigInt(digits), line };
}

/**
 * Sorts rows by id in little memory. Sorted parts go to a temporary file, which only its owner can read, and are merged
 * when the rows are read.
 */
export function defineSortedRows(temporaryFile: string, partBytes = PART_BYTES) {
  let rows: Row[] = [];
  let bytes = 0;
  let file: FileHandle | undefined;
  let size = 0;
  const parts: { readonly start: number; readonly end: number }[] = [];

  async function writePart(): Promise<void> {
    file ??= await open(temporaryFile, 'wx+', 0o600);
    const text = Buffer.from(rows.sort(compare).map(toLine).join(''));
    await file.appendFile(text);
    parts.push({ start: size, end: size + text.length - 1 });
    size += text.length;
    [rows, bytes] = [[], 0];
  }

  async function* readPart(range: { readonly start: number; readonly end: number }) {
    const options = { encoding: 'utf8', highWaterMark: READ_BYTES, autoClose: false } as const;
    // By the descriptor: each stream of a FileHandle's own would listen to it.
    const input = createReadStream(temporaryFile, { ...options, ...range, fd: file?.fd });
    for await (const line of createInterface({ input })) yield parseRow(line);
  }

  return {
    async add(lines: readonly string[]): Promise<void> {
      for (const line of lines) {
        rows.push(parseRow(line));
        bytes += line.length + ROW_BYTES;
        if (bytes >= partBytes) await writePart();
      }
    },

    /** All lines in order, each with its line end. */
    async *read(): AsyncGenerator<string> {
      rows.sort(compare);
      /** What is left of each part, the one with the first row at the end. */
      const heads: Head[] = [];
      for (const rest of [...parts.map(readPart), rows.values()]) await take(heads, rest);
      for (let head = heads.pop(); head; head = heads.pop()) {
        yield toLine(head.row);
        await take(heads, head.rest);
      }
    },

    async [Symbol.asyncDispose](): Promise<void> {
      await file?.close();
      await rm(temporaryFile, { force: true });
    },
  };
}

function toLine({ line }: Row): string {
  return `${line}\n`;
}
