import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Writes to standard output, no faster than it is read. @throws {Error} when its reader has left */
export async function printContent(content: Iterable<string>, signal: AbortSignal): Promise<void> {
  const text = Readable.from(content, { objectMode: true });
  await pipeline(text, process.stdout, { signal, end: false });
}
