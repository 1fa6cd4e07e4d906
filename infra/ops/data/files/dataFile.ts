import { open } from 'node:fs/promises';
import { parseJson } from '../../../../shared/contract/values.ts';
import { toJsonProblem } from '../../../bulk/jsonProblem.ts';
import type { Entry, Resource } from '../../../bulk/resources.ts';
import { UsageError } from '../../../cli/usage.ts';
import { parseCsvLine, toCsvValue } from './csv.ts';
import { type Line, readLines } from './readLines.ts';

export interface DataFile {
  /** As typed, which is what messages call it. */
  readonly file: string;
  readonly format: DataFormat;
  /** The file that is read in its place. */
  readonly copy?: string;
}

/** One line of a data file: its entry, or what is wrong with it. */
export type Row = { readonly line: number; readonly text: string } & (
  | { readonly entry: Entry }
  | { readonly problem: string }
);

export interface Rows {
  readonly rows: Row[];
  /** The first line of a CSV file. */
  readonly header: string | undefined;
}

export type DataFormat = 'csv' | 'jsonl';

/** In place of a file's name: standard input or output. */
export const STANDARD_STREAM = '-';

/** @throws {UsageError} when the file's name does not say a format that the resource can have */
export function parseFormat(option: string, file: string, { columns }: Resource): DataFormat {
  if (file === STANDARD_STREAM) return columns ? 'csv' : 'jsonl';
  if (/\.(jsonl|ndjson)(\.gz)?$/i.test(file)) return 'jsonl';
  if (columns && /\.csv(\.gz)?$/i.test(file)) return 'csv';
  const formats = columns ? '.csv or .jsonl' : '.jsonl (its entries nest, so CSV cannot hold them)';
  throw new UsageError(`${option} must name a file that ends in ${formats}; it is "${file}".`);
}

/** The file's size in bytes. @throws {UsageError} when it cannot be read twice, or not at all */
export async function measureFile(option: string, file: string): Promise<number> {
  try {
    const handle = await open(file);
    const stats = await handle.stat().finally(() => handle.close());
    if (stats.isFile()) return stats.size;
  } catch (error) {
    throw new UsageError(`${option} cannot be read: ${(error as Error).message}.`);
  }
  throw new UsageError(`${option} must name a file, since it is read twice; "${file}" is none.`);
}

/**
 * Every row of a data file, some thousands at a time. Empty lines are no rows.
 * @throws {UsageError} when a CSV file's first line does not name the columns
 */
export async function* readRows(
  { file, format, copy = file }: DataFile,
  resource: Resource,
): AsyncGenerator<Rows, void, undefined> {
  let header: string | undefined;
  let parseLine = parseJsonLine;
  let isFirst = format === 'csv';
  for await (const lines of readLines(copy)) {
    const rows: Row[] = [];
    for (const line of lines) {
      if (isFirst) {
        parseLine = defineCsvParser(file, line, resource.columns ?? []);
        header = line.text;
        isFirst = false;
      } else if (line.problem !== undefined || line.text.trim() !== '') {
        rows.push(toRow(line, parseLine, resource));
      }
    }
    yield { rows, header };
  }
  if (isFirst) throw new UsageError(`${file} is empty; ${firstLine(resource.columns ?? [])}.`);
}

/** Makes a row's value of its text. @throws {Error} with what is wrong */
type ParseLine = (text: string) => unknown;

function toRow({ number, text, problem }: Line, parseLine: ParseLine, resource: Resource): Row {
  const place = { line: number, text };
  if (problem !== undefined) return { ...place, problem };
  try {
    const parsed = resource.parse(parseLine(text));
    return typeof parsed === 'string' ? { ...place, problem: parsed } : { ...place, entry: parsed };
  } catch (error) {
    return { ...place, problem: (error as Error).message };
  }
}

function parseJsonLine(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw new Error(`is not JSON: ${toJsonProblem(text, error as Error)}`);
  }
}

function defineCsvParser(file: string, header: Line, columns: readonly string[]): ParseLine {
  const names = parseCsvLine(header.text) ?? [];
  if (names.toSorted().join() !== columns.toSorted().join()) {
    throw new UsageError(`${file}:1: ${firstLine(columns)}; it is "${header.text.slice(0, 60)}".`);
  }
  return (text) => {
    const fields = parseCsvLine(text);
    if (fields === undefined) throw new Error('has quotes that do not match');
    if (fields.length !== names.length) {
      throw new Error(`has ${fields.length} fields in place of ${names.length}`);
    }
    return Object.fromEntries(
      names.map((name, column) => [name, toCsvValue(fields[column] ?? '')]),
    );
  };
}

function firstLine(columns: readonly string[]): string {
  return `the first line must name the columns: ${columns.join(',')}`;
}
