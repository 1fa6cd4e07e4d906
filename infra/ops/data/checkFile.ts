import type { Entry } from '../../cli/bulk/resources.ts';
import { log, toCount, toPlain } from '../../cli/output.ts';
import { type DataFile, readRows } from './dataFile.ts';
import { defineFingerprints, toFingerprint } from './fingerprints.ts';

const MAX_SHOWN = 20;

/** Reports rows of a file, the first of them one by one. */
export function defineReport(file: string, noun: string) {
  let count = 0;
  return {
    add(line: number | undefined, text: string): void {
      count += 1;
      const place = line === undefined ? file : `${file}:${line}`;
      // The text may quote the file.
      if (count <= MAX_SHOWN) log(`${place}: ${toPlain(text)}`);
    },
    end(): number {
      if (count > MAX_SHOWN) log(`… and ${toCount(count - MAX_SHOWN, `more ${noun}`)}.`);
      return count;
    },
  };
}

/**
 * Checks every row of a file, and reports the invalid ones. Of the entries it keeps eight bytes each.
 * @returns how many rows there are, are invalid, and have an id that looks rounded
 */
export async function checkFile(source: DataFile, signal: AbortSignal) {
  const { file } = source;
  const keys = defineFingerprints();
  const ids = defineRoundedIds();
  const rounded: { readonly line: number; readonly id: bigint }[] = [];
  const invalid = defineReport(file, 'invalid row');
  let rows = 0;
  for await (const part of readRows(source, signal, 'Checking')) {
    for (const { line, entry, problem } of part) {
      if (entry) keys.add(entry.key);
      else invalid.add(line, problem);
      for (const id of entry?.ids ?? []) {
        if (ids.look(id) && rounded.length < MAX_SHOWN) rounded.push({ line, id });
      }
    }
    rows += part.length;
  }
  keys.sort();
  const repeated = keys.repeated();
  if (repeated.size > 0) await reportRepeated(source, repeated, invalid, signal);
  const roundedCount = ids.count();
  if (roundedCount > 0) {
    for (const { line, id } of rounded) log(`${file}:${line}: ${id} looks rounded.`);
    if (roundedCount > rounded.length) log(`… and ${toCount(roundedCount - rounded.length)} more.`);
  }
  return { rows, invalid: invalid.end(), rounded: roundedCount };
}

/** Reads the file once more, for the lines of keys that occur more than once. */
async function reportRepeated(
  source: DataFile,
  repeated: ReadonlySet<bigint>,
  invalid: ReturnType<typeof defineReport>,
  signal: AbortSignal,
): Promise<void> {
  const lineOf = new Map<string, number>();
  for await (const rows of readRows(source, signal)) {
    for (const { line, entry } of rows) {
      if (!entry || !repeated.has(toFingerprint(entry.key))) continue;
      const first = lineOf.get(entry.key);
      if (first === undefined) lineOf.set(entry.key, line);
      else invalid.add(line, `${entry.key} is already in line ${first}`);
    }
  }
}

/** The entries of a checked file in batches. @throws {Error} when the file has changed since it was checked */
export async function* readBatches(source: DataFile, size: number, signal: AbortSignal) {
  let batch: Entry[] = [];
  for await (const rows of readRows(source, signal)) {
    for (const { line, entry, problem } of rows) {
      if (!entry) {
        throw new Error(
          `${source.file}:${line}: ${problem}; the file changed after it was checked.`,
        );
      }
      batch.push(entry);
      if (batch.length < size) continue;
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

/** How many more ids must look rounded than would by chance. */
const FACTOR = 3;

/**
 * Finds ids that a spreadsheet or a JSON parser has rounded, such as 9223372036854770000. Both hold numbers as doubles,
 * which keep 15 to 17 digits; zeros take the place of the others. Some right ids look so too. Counts how many of the
 * ids would by chance, to report only what is more.
 */
export function defineRoundedIds() {
  let suspects = 0;
  let expected = 0;
  return {
    look(id: bigint): boolean {
      const number = Math.abs(Number(id));
      if (number <= Number.MAX_SAFE_INTEGER) return false;
      // The share of such ids that a double holds, of which at most a tenth end in a zero.
      expected += Math.min(0.1, 2 ** 52 / number);
      const text = id.toString();
      const isRounded = text.endsWith('0') && String(Number(id)) === text;
      if (isRounded) suspects += 1;
      return isRounded;
    },
    /** How many ids are reported. */
    count: () => (suspects > FACTOR * expected ? suspects : 0),
  };
}
