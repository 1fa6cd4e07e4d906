import { accessSync, constants, createReadStream, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import { parseInt64 } from '../../../shared/contract/values.ts';
import { parseDataJson } from '../../bulk/dataJson.ts';
import {
  type Resource,
  type ResourceName,
  resourceNames,
  resources,
} from '../../bulk/resources.ts';
import { openTable, type TableOptions } from '../../cli/tableOption.ts';
import { UsageError } from '../../cli/usage.ts';

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
    return file === undefined ? [] : [{ name, file }];
  });
  if (files.length === 0) {
    throw new UsageError('Name at least one file: --inventory, --pets or --orders.');
  }
  const known = new Map<string, ResourceName>();
  for (const { name, file } of files) {
    checkFormat(name, file);
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

/** @throws {UsageError} when the file's name does not end as that of its format */
function checkFormat(name: ResourceName, file: string): void {
  const { columns }: Resource = resources[name];
  const ending = columns ? '.csv' : '.jsonl';
  if (file.endsWith(ending)) return;
  throw new UsageError(`--${name} must name a file that ends in ${ending}; it is "${file}".`);
}

/** Device and inode, or the path of a file that does not exist yet. */
function identify(name: ResourceName, file: string, isTarget: boolean): string {
  const found = statSync(file, { bigint: true, throwIfNoEntry: !isTarget });
  if (found?.isFile() === false) {
    throw new UsageError(`--${name} must name a regular file; "${file}" is not one.`);
  }
  if (isTarget) accessSync(dirname(found ? realpathSync(file) : file), constants.W_OK);
  return found ? `${found.dev}:${found.ino}` : join(realpathSync(dirname(file)), basename(file));
}

/** One attempt for each call, since the commands retry calls, and more sockets than the SDK's 50. */
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
export async function* readRows({ name, file }: DataFile, signal?: AbortSignal) {
  const resource: Resource = resources[name];
  const header = resource.columns?.join();
  let line = 0;
  for await (const text of readLines(file, signal)) {
    line += 1;
    if (line > 1 || header === undefined) {
      if (text.trim() !== '') yield { line, ...toRow(text, resource) };
    } else if (text.replaceAll('"', '') !== header) {
      throw new UsageError(`The first line of ${file} must be ${header}.`);
    }
  }
}

function toRow(text: string, { columns, parse }: Resource) {
  try {
    const parsed = parse(columns ? parseCsvRow(text, columns) : parseDataJson(text));
    return typeof parsed === 'string' ? { problem: parsed } : { entry: parsed };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

function parseCsvRow(text: string, columns: readonly string[]): object {
  const fields = text.split(',').map(toCsvValue);
  if (fields.length !== columns.length) throw new Error(`must have ${columns.length} fields`);
  return Object.fromEntries(columns.map((column, index) => [column, fields[index]]));
}

/**
 * The lines of a file. Memory does not grow with the file. Lines end in LF or CRLF; a byte order mark is dropped.
 * @throws {Error} that names the file if it is not UTF-8 text, or once the signal is aborted
 */
async function* readLines(file: string, signal?: AbortSignal): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  try {
    for await (const chunk of createReadStream(file, { signal })) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r?\n/);
      rest = lines.pop() ?? '';
      yield* lines;
    }
    rest += decoder.decode();
  } catch (error) {
    throw new Error(`${file} cannot be read: ${(error as Error).message}.`);
  }
  yield rest;
}

/** Converts an integer as JSON does; any other text stays text. No value of the inventory needs its quotes. */
function toCsvValue(field: string): string | number | bigint {
  const text = field.replace(/^"(.*)"$/, '$1');
  const value = parseInt64(text);
  if (value === undefined) return text;
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}
