import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import { parseInt64, parseJson } from '../../../shared/contract/values.ts';
import {
  type Resource,
  type ResourceName,
  resourceNames,
  resources,
} from '../../bulk/resources.ts';
import { parseCsvLine, readLines } from '../../cli/lines.ts';
import { openTable, type TableOptions } from '../../cli/tableOption.ts';
import { UsageError } from '../../cli/usage.ts';

/** A data file, and the table of its entries. */
export type DataFile = ReturnType<typeof parseFiles>[number];

/**
 * The files that a command is to read or write, checked before it reads the first.
 * @throws {UsageError} when there is none, one cannot have its format or is no regular file, or two are the same, by
 * any path or link
 * @throws {Error} when a file to read or the folder of a file to write does not exist, or cannot be used
 */
export function parseFiles(
  options: { readonly [Name in ResourceName]?: string | undefined },
  use: 'input' | 'output',
) {
  const files = resourceNames.flatMap((name) => {
    const file = options[name];
    return file === undefined ? [] : [{ name, file, format: parseFormat(name, file) }];
  });
  if (files.length === 0) {
    throw new UsageError('Name at least one file: --inventory, --pets or --orders.');
  }
  const known = new Map<string, ResourceName>();
  for (const { name, file } of files) {
    const identity = identify(name, file, use === 'output');
    const other = known.get(identity);
    if (other !== undefined) {
      throw new UsageError(
        `--${name} and --${other} must name different files; "${file}" is the same file.`,
      );
    }
    known.set(identity, name);
  }
  return files;
}

/** @throws {UsageError} when the file's name does not say a format that the resource can have */
function parseFormat(name: ResourceName, file: string): 'csv' | 'jsonl' {
  const { columns }: Resource = resources[name];
  if (/\.(jsonl|ndjson)(\.gz)?$/i.test(file)) return 'jsonl';
  if (columns && /\.csv(\.gz)?$/i.test(file)) return 'csv';
  const formats = columns ? '.csv or .jsonl' : '.jsonl (its entries nest, so CSV cannot hold them)';
  throw new UsageError(`--${name} must name a file that ends in ${formats}; it is "${file}".`);
}

/** Device and inode, or the path of a file that does not exist yet. */
function identify(name: ResourceName, file: string, isTarget: boolean): string {
  const found = statSync(file, { bigint: true, throwIfNoEntry: !isTarget });
  if (found?.isFile() === false) {
    throw new UsageError(`--${name} must name a regular file; "${file}" is not one.`);
  }
  const path = found ? realpathSync(file) : join(realpathSync(dirname(file)), basename(file));
  if (isTarget) accessSync(dirname(path), constants.W_OK);
  return found ? `${found.dev}:${found.ino}` : path;
}

/** One attempt for each call, since the commands retry calls, and a socket for each concurrent call. */
const settings = {
  maxAttempts: 1,
  requestHandler: {
    connectionTimeout: 3_000,
    // An emulator on a busy machine takes its time over a page of a scan.
    requestTimeout: 30_000,
    throwOnRequestTimeout: true,
    httpAgent: { maxSockets: 100 },
    httpsAgent: { maxSockets: 100 },
  },
};

export type OpenFile = Awaited<ReturnType<typeof openTables>>[number];

/** The files, each with its table in a deployed stage or an emulator. @throws {Error} when one does not exist */
export function openTables(files: readonly DataFile[], options: TableOptions) {
  return Promise.all(
    files.map(async (file) => {
      const { client, tableName } = await openTable(file.name, options, settings);
      await client.send(new DescribeTableCommand({ TableName: tableName }));
      return { ...file, client, tableName };
    }),
  );
}

/**
 * Every row of a data file, as its entry or what is wrong with it. Empty lines are ignored.
 * @throws {UsageError} when a CSV file's first line does not name the columns
 */
export async function* readRows({ name, file, format }: DataFile, signal?: AbortSignal) {
  const resource: Resource = resources[name];
  const columns = resource.columns ?? [];
  let parseLine = format === 'csv' ? undefined : parseJsonLine;
  let line = 0;
  for await (const text of readLines(file, signal)) {
    line += 1;
    if (!parseLine) parseLine = defineCsvParser(file, text, columns);
    else if (text.trim() !== '') yield { line, ...toRow(text, parseLine, resource) };
  }
  if (!parseLine) throw new UsageError(`${file} is empty; ${toHeaderRule(columns)}.`);
}

type ParseLine = (text: string) => unknown;

function toRow(text: string, parseLine: ParseLine, resource: Resource) {
  try {
    const parsed = resource.parse(parseLine(text));
    return typeof parsed === 'string' ? { problem: parsed } : { entry: parsed };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

function parseJsonLine(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw new Error(`is not JSON: ${(error as Error).message}`);
  }
}

function defineCsvParser(file: string, header: string, columns: readonly string[]): ParseLine {
  const names = parseCsvLine(header) ?? [];
  if (names.toSorted().join() !== columns.toSorted().join()) {
    const found = header.slice(0, 60);
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
