import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { toPacking } from './gzip.ts';

/**
 * Writes a file beside its place, and puts it there once it is whole and on the disk: whoever looks
 * sees the old file or the new one, never a half. A failure leaves nothing behind. By its name it is gzip.
 */
export async function replaceFile(
  file: string,
  content: Iterable<string>,
  signal: AbortSignal,
): Promise<void> {
  const unfinished = join(dirname(file), `.${basename(file)}.${process.pid}.unfinished`);
  try {
    // Not over another file, and readable to its owner alone until someone decides otherwise.
    const target = createWriteStream(unfinished, { flags: 'wx', mode: 0o600, flush: true });
    const text = Readable.from(content, { objectMode: true });
    await pipeline([text, ...toPacking(file), target], { signal });
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}
