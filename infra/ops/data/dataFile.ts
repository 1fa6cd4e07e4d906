import { accessSync, constants, createReadStream, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import { parseInt64 } from '../../../shared/contract/values.ts';
import { parseDataJson } from '../../cli/bulk/dataJson.ts';
import {
  type Resource,
  type ResourceName,
  resourceNames,
  resources,
} from '../../cli/bulk/resources.ts';
import { toPlain } from '../../cli/output.ts';
import { defineProgress } from '../../cli/progress.ts';
import { openTable, type TableOptions } from '../../cli/tableOption.ts';
import { UsageError } from '../../cli/usage.ts';

export type DataFile = ReturnType<typeof parseFiles>[number];

/**
 * The files that a command is to read or write, checked before it reads the first.
 * @throws {UsageError} when there is none, one is no regular file or is to be written in another format than its name
 * says, or two are the same, by any path or link
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
    if (use === 'output' && file !== STANDARD_OUTPUT) checkFormat(name, file);
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

export const STANDARD_OUTPUT = '-';

function checkFormat(name: ResourceName, file: string): void {
  const { columns }: Resource = resources[name];
  const ending = columns ? '.csv' : '.jsonl';
  if (file.endsWith(ending)) return;
  throw new UsageError(`--${name} must name a file that ends in ${ending}; it is "${file}".`);
}

/** Device and inode, or the path of a file that does not exist yet. */
function identify(name: ResourceName, file: string, isTarget: boolean): string {
  if (isTarget && file === STANDARD_OUTPUT) return file;
  const found = statSync(file, { bigint: true, throwIfNoEntry: !isTarget });
  if (found?.isFile() === false) {
    throw new UsageError(`--${name} must name a regular file; "${file}" is not one.`);
  }
  if (isTarget) accessSync(dirname(found ? realpathSync(file) : file), constants.W_OK);
  return found ? `${found.dev}:${found.ino}` : join(realpathSync(dirname(file)), basename(file));
}

/**
 * Makes V8 collect garbage before its heap grows. Otherwise it lets a heap with 40 MB in use grow to 300 MB. The
 * collector reads this flag at each collection, so it may change in a running process. Disposing of it lets the heap
 * grow again.
 */
export function saveMemory(): Disposable {
  setFlagsFromString('--optimize-for-size');
  return { [Symbol.dispose]: () => setFlagsFromString('--no-optimize-for-size') };
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
      const description = await client.send(new DescribeTableCommand({ TableName: tableName }));
      // Up to six hours old.
      return { ...file, client, tableName, itemCount: description.Table?.ItemCount ?? 0 };
    }),
  );
}

/**
 * The rows of a data file, some at a time: each as its entry or what is wrong with it. Empty lines are ignored.
 * @param label shows how much is read
 * @throws {UsageError} when the file has another format, or a CSV file's first line does not name the columns
 */
export async function* readRows({ name, file }: DataFile, signal?: AbortSignal, label?: string) {
  using progress = label === undefined ? undefined : defineProgress(`${label} ${basename(file)}`);
  const resource: Resource = resources[name];
  let line = 0;
  let count = 0;
  for await (const { lines, share } of readLines(file, resource, signal)) {
    const rows: ({ readonly line: number } & ReturnType<typeof parseRow>)[] = [];
    for (const text of lines) {
      line += 1;
      if (line === 1) checkColumns(text, file, resource);
      if ((line === 1 && resource.columns) || text.trim() === '') continue;
      rows.push({ line, ...parseRow(text, resource) });
    }
    yield rows;
    count += rows.length;
    progress?.report(count, share);
  }
}

function checkColumns(text: string, file: string, { columns }: Resource): void {
  if (!columns || text.replaceAll('"', '') === columns.join()) return;
  const found = toPlain(explainColumns(text, columns));
  throw new UsageError(`The first line of ${file} must be ${columns.join()}. ${found}`);
}

/** @throws {UsageError} that says what the file is, by its first characters */
function checkJsonLines(begin: string, file: string): void {
  if (begin.startsWith('{')) return;
  const found = begin.startsWith('[')
    ? "is a JSON array. jq 1.7 or later converts it: jq -c '.[]'"
    : `begins with ${toPlain(quote(begin.split(/\r?\n/, 1)[0] ?? ''))}`;
  throw new UsageError(
    `${file} must be JSON Lines: on each line one JSON object, without a comma after it. It ${found}.`,
  );
}

/** Such as `9.22337E+18`. */
const roundedNumber = /^"?-?\d[.,]\d+E\+\d+\b/;

function parseRow(text: string, { columns, parse }: Resource) {
  try {
    const parsed = parse(columns ? parseCsvRow(text, columns) : parseDataJson(text));
    if (typeof parsed !== 'string') return { entry: parsed };
    const hint = roundedNumber.test(text) ? '; a spreadsheet rounded it: export ids as text' : '';
    return { problem: parsed + hint };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

function parseCsvRow(text: string, columns: readonly string[]): object {
  const fields = text.split(',').map(parseCsvField);
  if (fields.length !== columns.length) throw new Error(`must have ${columns.length} fields`);
  return Object.fromEntries(columns.map((column, index) => [column, fields[index]]));
}

/** The entries of so many bytes wait in memory. */
const READ_BYTES = 16_384;

/**
 * The lines of a file, some at a time, with the share of the file that is read. Memory does not grow with the file.
 * Lines end in LF or CRLF; a byte order mark is dropped.
 * @throws {UsageError} when it can be told from its characters that the file has another format
 * @throws {Error} that names the file if it is not UTF-8 text, or once the signal is aborted
 */
async function* readLines(file: string, { columns }: Resource, signal?: AbortSignal) {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const { size } = statSync(file);
  let read = 0;
  let isBlank = true;
  let last = '';
  let rest = '';
  try {
    for await (const chunk of createReadStream(file, { signal, highWaterMark: READ_BYTES })) {
      const foreign = read === 0 ? recognizeFormat(chunk) : undefined;
      if (foreign) throw new UsageError(`${file} is ${foreign}.`);
      read += chunk.length;
      const text = decoder.decode(chunk, { stream: true });
      if (isBlank && text.trim() !== '') {
        if (!columns) checkJsonLines(text.trimStart(), file);
        isBlank = false;
      }
      if (/\r[^\n]/.test(last + text)) {
        throw new UsageError(`${file} has a line that ends in CR alone; save it with LF or CRLF.`);
      }
      last = text.at(-1) ?? last;
      // The rest is not split again: for a line of some MB, that would take minutes.
      const [first = '', ...others] = text.split('\n');
      const lines = [rest + first, ...others];
      rest = lines.pop() ?? '';
      yield { lines: lines.map(dropCarriageReturn), share: read / size };
    }
    rest += decoder.decode();
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new Error(`${file} cannot be read: ${(error as Error).message}.`);
  }
  yield { lines: [dropCarriageReturn(rest)], share: 1 };
}

function dropCarriageReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}

/** Converts an integer as JSON does; any other text stays text. No value of the inventory needs its quotes. */
function parseCsvField(field: string): string | number | bigint {
  const text = field.replace(/^"(.*)"$/, '$1');
  const value = parseInt64(text);
  if (value === undefined) return text;
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

const decompress = (tool: string, command: string) =>
  `compressed by ${tool}; decompress it first, by ${command}`;
const utf16 = 'text in UTF-16; save it as UTF-8';
/** What a file is that begins with these bytes, if it is no text in UTF-8. */
const signatures: readonly (readonly [begin: readonly number[], found: string])[] = [
  [[0x50, 0x4b, 0x03, 0x04], 'an Excel workbook or another ZIP file; save the sheet as CSV UTF-8'],
  [[0xd0, 0xcf, 0x11, 0xe0], 'an old Excel workbook; save the sheet as CSV UTF-8'],
  [[0x1f, 0x8b], decompress('gzip', 'gunzip')],
  [[0x28, 0xb5, 0x2f, 0xfd], decompress('zstd', 'unzstd')],
  [[0x42, 0x5a, 0x68], decompress('bzip2', 'bunzip2')],
  [[0xfd, 0x37, 0x7a, 0x58, 0x5a], decompress('xz', 'unxz')],
  [[0xff, 0xfe], utf16],
  [[0xfe, 0xff], utf16],
];

function recognizeFormat(bytes: Uint8Array): string | undefined {
  const known = signatures.find(([begin]) => begin.every((byte, index) => bytes[index] === byte));
  if (known) return known[1];
  // One byte of an ASCII character in UTF-16 is zero.
  if (bytes.subarray(0, 2).includes(0)) return utf16;
  return bytes.subarray(0, 100).includes(0) ? 'a binary file, not text' : undefined;
}

/** What the first line of a CSV file is in place of its header. */
function explainColumns(line: string, columns: readonly string[]): string {
  const fields = line.replaceAll('"', '').split(',');
  const spread = [
    [';', 'semicolons'],
    ['\t', 'tabs'],
  ].find(([sign]) => line.includes(sign as string));
  if (line.trim() === '') return 'It is empty.';
  if (spread) return `Its columns are separated by ${spread[1]}: save the file with commas.`;
  if (/^\s*[[{]/.test(line)) return 'It is JSON: save the file as CSV.';
  if (fields.length === 1) return `It has one column: ${quote(line)}.`;
  if (/^-?\d/.test(fields[0] ?? '')) return `The header is missing: it is ${quote(line)}.`;
  const missing = columns.filter((name) => !fields.includes(name));
  const surplus = fields.filter((name) => !columns.includes(name)).map(quote);
  if (missing.length > 0) return `It lacks ${missing.join(' and ')}: it is ${quote(line)}.`;
  if (surplus.length > 0) return `It also has ${surplus.join(', ')}: remove what is not ours.`;
  return `The columns are in another order: it is ${quote(line)}.`;
}

function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}...` : text);
}
