import type { BilledLine } from './billedLine.ts';
import { readCsv } from './readCsv.ts';
import { readParquet } from './readParquet.ts';

/**
 * The lines of an export, some thousands at a time, in memory that does not grow with the file; Parquet,
 * by its name, takes as much as one of its row groups.
 * @param needsStart whether days were asked for
 * @throws {Error} that names the line which cannot be read
 */
export function readExport(file: string, needsStart: boolean): AsyncGenerator<BilledLine[]> {
  return /\.parquet$/i.test(file) ? readParquet(file, needsStart) : readCsv(file, needsStart);
}
