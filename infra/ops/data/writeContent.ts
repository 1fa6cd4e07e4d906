import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { isGzip } from '../../cli/lines.ts';

/**
 * Writes a temporary file, and renames it once it is complete and on the disk. A reader sees the old file or the
 * new one, never a part. A failure leaves nothing behind. A name that ends in `.gz` is compressed.
 * @throws {Error} that names the file, when it cannot be written
 * @throws the signal's reason, or what the content threw
 */
export async function replaceFile(
  file: string,
  content: Iterable<string>,
  signal: AbortSignal,
): Promise<void> {
  const unfinished = join(dirname(file), `.${basename(file)}.${process.pid}.unfinished`);
  try {
    // Never over another file, and readable by its owner alone.
    const target = createWriteStream(unfinished, { flags: 'wx', mode: 0o600, flush: true });
    await pipeline([Readable.from(content), ...(isGzip(file) ? [createGzip()] : []), target], {
      signal,
    });
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw toWriteFailure(file, error as NodeJS.ErrnoException);
  }
}

/** The system's error for a full disk does not name the file. */
function toWriteFailure(file: string, error: NodeJS.ErrnoException): Error {
  if (!/^E[A-Z]+$/.test(error.code ?? '')) return error;
  return new Error(`${file} cannot be written (${error.message}), and is unchanged.`);
}
