import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parseInt64, parseJson } from '../../../shared/contract/values.ts';
import {
  type Entry,
  type Resource,
  type ResourceName,
  resourceNames,
  resources,
} from '../../bulk/resources.ts';
import { type Line, parseCsvLine, readLines } from '../../cli/lines.ts';
import { UsageError } from '../../cli/usage.ts';

/** A data file, and the table of its entries. */
export interface DataFile {
  readonly name: ResourceName;
  /** As typed and as in messages; `-` is standard input or output. */
  readonly file: string;
  readonly format: 'csv' | 'jsonl';
  /** The file to read instead. */
  readonly copy?: string;
}

/** One line of a data file: its entry, or what is wrong with it. */
export type Row = { readonly line: number } & (
  | { readonly entry: Entry }
  | { readonly problem: string }
);

/** @throws {UsageError} when no file is named, or one in a format that cannot be */
export function parseFiles(
  options: {
    readonly [Name in ResourceName]?: string | undefined;
  },
): DataFile[] {
  const files = resourceNames.flatMap((name) => {
    const file = options[name];
    return file === undefined ? [] : [{ name, file, format: parseFormat(name, file) }];
  });
  if (files.length === 0) {
    throw new UsageError('Name at least one file: --inventory, --pets or --orders.');
  }
  return files;
}

export function isStandardStream({ file }: { readonly file: string }): boolean {
  return file === '-';
}

/** Copies standard input into a temporary folder, since files are read twice. */
export async function copyInput(
  files: readonly DataFile[],
  folder: string,
  signal: AbortSignal,
): Promise<readonly DataFile[]> {
  if (!files.some(isStandardStream)) return files;
  const copy = join(folder, 'input');
  await pipeline(process.stdin, createWriteStream(copy), { signal });
  return files.map((one) => (isStandardStream(one) ? { ...one, copy } : one));
}

/**
 * Every row of a data file, in chunks of some thousands. Empty lines are ignored.
 * @throws {UsageError} when a CSV file's first line does not name the columns
 */
export async function* readRows({
  name,
  file,
  format,
  copy = file,
}: DataFile): AsyncGenerator<Row[], void, undefined> {
  const resource: Resource = resources[name];
  const columns = resource.columns ?? [];
  let parseLine = parseJsonLine;
  let isFirst = format === 'csv';
  for await (const lines of readLines(copy)) {
    const rows: Row[] = [];
    for (const line of lines) {
      if (isFirst) {
        parseLine = defineCsvParser(file, line, columns);
        isFirst = false;
      } else if (line.text.trim() !== '') {
        rows.push(toRow(line, parseLine, resource));
      }
    }
    yield rows;
  }
  if (isFirst) throw new UsageError(`${file} is empty; ${toHeaderRule(columns)}.`);
}

/** @throws {UsageError} when the file's name does not say a format that the resource can have */
function parseFormat(name: ResourceName, file: string): 'csv' | 'jsonl' {
  const { columns }: Resource = resources[name];
  if (isStandardStream({ file })) return columns ? 'csv' : 'jsonl';
  if (/\.(jsonl|ndjson)(\.gz)?$/i.test(file)) return 'jsonl';
  if (columns && /\.csv(\.gz)?$/i.test(file)) return 'csv';
  const formats = columns ? '.csv or .jsonl' : '.jsonl (its entries nest, so CSV cannot hold them)';
  throw new UsageError(`--${name} must name a file that ends in ${formats}; it is "${file}".`);
}

type ParseLine = (text: string) => unknown;

function toRow({ number, text }: Line, parseLine: ParseLine, resource: Resource): Row {
  try {
    const parsed = resource.parse(parseLine(text));
    return {
      line: number,
      ...(typeof parsed === 'string' ? { problem: parsed } : { entry: parsed }),
    };
  } catch (error) {
    return { line: number, problem: (error as Error).message };
  }
}

function parseJsonLine(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw new Error(`is not JSON: ${(error as Error).message}`);
  }
}

function defineCsvParser(file: string, header: Line, columns: readonly string[]): ParseLine {
  const names = parseCsvLine(header.text) ?? [];
  if (names.toSorted().join() !== columns.toSorted().join()) {
    const found = header.text.slice(0, 60);
    throw new UsageError(`${file}:1: ${toHeaderRule(columns)}; it is "${found}".`);
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

function toHeaderRule(columns: readonly string[]): string {
  return `the first line must name the columns: ${columns.join(',')}`;
}

/** Converts an integer as JSON does; any other text stays text. */
function toCsvValue(field: string): string | number | bigint {
  const value = parseInt64(field);
  if (value === undefined) return field;
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}
