import { readSync } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';

/** How much is read at a time. */
const TEXT_CHARACTERS = 65_536;

/**
 * Sorts rows by id in little memory; rows of one id stay in the order in which they were added. The rows are in a file,
 * since DuckDB runs out of its limit of memory when it sorts long ones: it sorts their places. File and database are in
 * a temporary folder, which only its owner can read.
 * @param prefix of the folder
 * @param signal interrupts the sort
 */
export async function openSortedRows(prefix: string, signal: AbortSignal) {
  await using opened = new AsyncDisposableStack();
  const folder = await mkdtemp(prefix);
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const file = await open(join(folder, 'rows'), 'w+');
  opened.defer(() => file.close());
  const connection = await openDatabase(folder, opened, signal);
  await connection.run('CREATE TABLE places (id BIGINT, start BIGINT, bytes INTEGER)');
  const appender = await connection.createAppender('places');
  let end = 0;
  const closing = opened.move();
  return {
    async add(lines: readonly string[]): Promise<void> {
      for (const line of lines) {
        const bytes = Buffer.byteLength(line);
        // In CSV and in JSON, the id is the first number.
        appender.appendBigInt(BigInt(/-?\d+/.exec(line)?.[0] ?? 0));
        appender.appendBigInt(BigInt(end));
        appender.appendInteger(bytes);
        appender.endRow();
        end += bytes;
      }
      await file.appendFile(lines.join(''));
    },

    /** A header and all lines in order, each with its line end, some at a time. */
    async *read(header = ''): AsyncGenerator<string> {
      appender.closeSync();
      const sorted = await connection.stream('SELECT start, bytes FROM places ORDER BY id, start');
      let text = header;
      for await (const places of sorted.yieldRows()) {
        for (const [start, bytes] of places) {
          const line = Buffer.alloc(Number(bytes));
          readSync(file.fd, line, 0, line.length, Number(start));
          text += `${line}\n`;
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
