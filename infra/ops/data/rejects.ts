import { realpath } from 'node:fs/promises';
import { UsageError } from '../../cli/usage.ts';
import { type DataSource, isStandardStream } from './files/dataSource.ts';
import { replaceFile } from './files/replaceFile.ts';
import { defineSortedLines } from './files/sortedLines.ts';

/** The rows of a file that are not valid, as they stand there, for a file in which they can be corrected. */
export interface Rejects {
  add(line: number, text: string): void;
  /** Writes the file, in place of an earlier one. @param header the first line of a CSV file */
  write(header: string | undefined, signal: AbortSignal): Promise<void>;
}

export function defineRejects(file: string): Rejects {
  const rejected = defineSortedLines();

  function* toContent(header: string | undefined): Generator<string> {
    if (header !== undefined) yield `${header}\n`;
    yield* rejected.read();
  }

  return {
    add: (line, text) => rejected.add(BigInt(line), text),
    async write(header, signal) {
      await replaceFile(file, toContent(header), signal);
      rejected.close();
    },
  };
}

/**
 * One file takes the rejected rows of one, since they keep its form.
 * @throws {UsageError} when there are more, or the rejects would take the place of the file itself
 */
export async function checkRejects(
  file: string | undefined,
  sources: readonly DataSource[],
): Promise<void> {
  if (file === undefined) return;
  const [source, ...more] = sources;
  if (!source || more.length > 0) {
    throw new UsageError('--rejects takes the rows of one file: import the others on their own.');
  }
  if (file === '' || isStandardStream({ ...source, file })) {
    throw new UsageError(`--rejects must name a file; it is "${file}".`);
  }
  const [place, taken] = await Promise.all([file, source.file].map(toPlace));
  if (place === taken) {
    throw new UsageError(`--rejects must name another file than --${source.name}.`);
  }
}

/** Where a file lies; one that is not there yet is as it is named. */
function toPlace(file: string): Promise<string> {
  return realpath(file).catch(() => file);
}
