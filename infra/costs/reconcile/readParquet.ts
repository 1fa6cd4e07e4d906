import {
  type AsyncBuffer,
  asyncBufferFromFile,
  parquetMetadataAsync,
  parquetReadObjects,
  parquetSchema,
} from 'hyparquet';
import type { BilledLine } from './billedLine.ts';
import { defineLineParser, type LineParser } from './exportColumns.ts';

/**
 * The lines of a Parquet file, as AWS exports them with Snappy: of each of its row groups, the columns that
 * are needed.
 * @throws {Error} that names the row which cannot be read
 */
export async function* readParquet(
  file: string,
  needsStart: boolean,
): AsyncGenerator<BilledLine[]> {
  let row = 0;
  try {
    const buffer = await asyncBufferFromFile(file);
    const metadata = await parquetMetadataAsync(buffer);
    const names = parquetSchema(metadata).children.map(({ element }) => element.name);
    const parser = defineLineParser(names, needsStart);
    for (const group of metadata.row_groups) {
      const range = { rowStart: row, rowEnd: row + Number(group.num_rows) };
      const lines: BilledLine[] = [];
      for (const cells of await readCells(buffer, names, parser, range)) {
        row += 1;
        lines.push(parser.parse(cells));
      }
      yield lines;
    }
  } catch (error) {
    const where = row > 0 ? ` at row ${row}` : '';
    throw new Error(`${file} cannot be read${where}: ${(error as Error).message}.`);
  }
}

async function readCells(
  file: AsyncBuffer,
  names: readonly string[],
  { columns }: LineParser,
  range: { rowStart: number; rowEnd: number },
): Promise<unknown[][]> {
  const wanted = columns.map((index) => names[index] ?? '');
  const rows = await parquetReadObjects({ file, columns: wanted, ...range });
  return rows.map((row) => names.map((name) => row[name]));
}
