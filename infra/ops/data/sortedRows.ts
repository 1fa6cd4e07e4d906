import { readSync } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';

/** DuckDB runs out of its limit of memory when it sorts long rows. They go to a file, and it sorts their places. */
const MAX_SORTED_BYTES = 250;
/** How much is read at a time. */
const TEXT_CHARACTERS = 65_536;

/**
 * Sorts rows by id in little memory; orders of one id by their text. What has no room in memory goes to a temporary
 * folder, which only its owner can read.
 * @param prefix of the folder
 * @param signal interrupts the sort
 */
export async function openSortedRows(prefix: string, signal: AbortSignal) {
  await using opened = new AsyncDisposableStack();
  const folder = await mkdtemp(prefix);
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const longRows = await open(join(folder, 'long'), 'w+');
  opened.defer(() => longRows.close());
  const connection = await openDatabase(folder, opened, signal);
  await connection.run('CREATE TABLE rows (id BIGINT, line VARCHAR, start BIGINT, bytes INTEGER)');
  const appender = await connection.createAppender('rows');
  let end = 0;

  function readLong(start: number, bytes: number): string {
    const line = Buffer.alloc(bytes);
    readSync(longRows.fd, line, 0, bytes, start);
    return line.toString();
  }

  /** @returns the bytes of a line that is too long to be sorted */
  function append(line: string): Buffer[] {
    // In CSV and in JSON, the id is the first number.
    appender.appendBigInt(BigInt(/-?\d+/.exec(line)?.[0] ?? 0));
    const bytes = Buffer.byteLength(line);
    const isLong = bytes > MAX_SORTED_BYTES;
    if (isLong) appender.appendNull();
    else appender.appendVarchar(line);
    appender.appendBigInt(BigInt(end));
    appender.appendInteger(bytes);
    appender.endRow();
    if (!isLong) return [];
    end += bytes;
    return [Buffer.from(line)];
  }

  const closing = opened.move();
  return {
    async add(lines: readonly string[]): Promise<void> {
      await longRows.appendFile(Buffer.concat(lines.flatMap(append)));
    },

    /** A header and all lines in order, each with its line end, some at a time. */
    async *read(header = ''): AsyncGenerator<string> {
      appender.closeSync();
      const sorted = await connection.stream(
        'SELECT line, start, bytes FROM rows ORDER BY id, line, start',
      );
      let text = header;
      for await (const rows of sorted.yieldRows()) {
        for (const [line, start, bytes] of rows) {
          text += `${line ?? readLong(Number(start), Number(bytes))}\n`;
          if (text.length < TEXT_CHARACTERS) continue;
          yield text;
          text = '';
        }
      }
      yield text;
    },

    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

/** In memory, and past 100 MB in the folder. */
async function openDatabase(
  folder: string,
  opened: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<DuckDBConnection> {
  const database = await DuckDBInstance.create(':memory:', {
    threads: '1',
    memory_limit: '100MB',
    temp_directory: folder,
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  });
  opened.defer(() => database.closeSync());
  const connection = await database.connect();
  opened.defer(() => connection.closeSync());
  const interrupt = () => connection.interrupt();
  signal.addEventListener('abort', interrupt);
  opened.defer(() => signal.removeEventListener('abort', interrupt));
  return connection;
}
