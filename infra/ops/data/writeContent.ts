import {
  accessSync,
  type BigIntStats,
  constants,
  createWriteStream,
  fstatSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { isGzip } from '../../cli/lines.ts';
import { UsageError } from '../../cli/usage.ts';

/** An option without its dashes, and the file that it names; `-` is standard input or output. */
interface NamedFile {
  readonly name: string;
  readonly file: string;
}

/**
 * Checks all files that a command reads or writes, before it reads the first.
 * @throws {UsageError} when one is no regular file, or two are the same, by any path or link
 * @throws {Error} when a file to read or the folder of a file to write does not exist, or cannot be used
 */
export function checkNamedFiles(files: readonly NamedFile[], use: 'input' | 'output'): void {
  const known = new Map<string, string>();
  for (const { name, file } of files) {
    const identity = identify({ name, file }, use === 'output');
    const other = known.get(identity);
    if (other !== undefined) {
      throw new UsageError(
        `--${name} and --${other} must name different files; "${file}" is the same file.`,
      );
    }
    known.set(identity, name);
  }
}

/** Device and inode, or the path of a file that does not exist yet. */
function identify({ name, file }: NamedFile, isTarget: boolean): string {
  if (file === '-') return toIdentity(fstatSync(isTarget ? 1 : 0, { bigint: true }));
  const found = statSync(file, { bigint: true, throwIfNoEntry: !isTarget });
  if (found?.isFile() === false) {
    throw new UsageError(`--${name} must name a regular file; "${file}" is not one.`);
  }
  const path = found ? realpathSync(file) : join(realpathSync(dirname(file)), basename(file));
  if (isTarget) accessSync(dirname(path), constants.W_OK);
  return found ? toIdentity(found) : path;
}

function toIdentity({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/**
 * Writes a temporary file, and renames it once it is complete and on the disk. A reader sees the old file or the
 * new one, never a part. A failure leaves nothing behind. A name that ends in `.gz` is compressed. A link stays, and
 * its file is replaced.
 * @throws {Error} that names the file, when it cannot be written
 * @throws the signal's reason, or what the content threw
 */
export async function replaceFile(
  file: string,
  content: Iterable<string>,
  signal: AbortSignal,
): Promise<void> {
  const path = await realpath(file).catch(() => file);
  const unfinished = join(dirname(path), `.${basename(path)}.${process.pid}.unfinished`);
  try {
    // Never over another file, and readable by its owner alone.
    const target = createWriteStream(unfinished, { flags: 'wx', mode: 0o600, flush: true });
    await pipeline([Readable.from(content), ...(isGzip(file) ? [createGzip()] : []), target], {
      signal,
    });
    await rename(unfinished, path);
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
