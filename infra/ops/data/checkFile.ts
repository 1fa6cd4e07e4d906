import { basename } from 'node:path';
import type { Entry } from '../../cli/bulk/resources.ts';
import { log, toCount, toPlain } from '../../cli/output.ts';
import { defineProgress } from '../../cli/progress.ts';
import { type DataFile, readRows } from './dataFile.ts';
import { defineFingerprints, toFingerprint } from './fingerprints.ts';
import { defineRoundedIds } from './roundedIds.ts';

/** How many rows of a file are reported one by one. */
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
    /** @returns how many there were */
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
  using progress = defineProgress(`Checking ${basename(file)}`);
  const keys = defineFingerprints();
  const ids = defineRoundedIds();
  const rounded: { readonly line: number; readonly id: bigint }[] = [];
  const invalid = defineReport(file, 'invalid row');
  let rows = 0;
  for await (const part of readRows(source, signal)) {
    for (const { line, entry, problem } of part.rows) {
      if (entry) keys.add(entry.key);
      else invalid.add(line, problem);
      for (const id of entry?.ids ?? []) {
        if (ids.look(id) && rounded.length < MAX_SHOWN) rounded.push({ line, id });
      }
    }
    rows += part.rows.length;
    progress.report(rows, part.share);
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
  for await (const { rows } of readRows(source, signal)) {
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
  for await (const { rows } of readRows(source, signal)) {
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
