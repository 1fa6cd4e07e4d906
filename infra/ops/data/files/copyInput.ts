import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type DataSource, isStandardStream } from './dataSource.ts';

export interface ReadableSources extends AsyncDisposable {
  readonly sources: readonly DataSource[];
}

/**
 * Takes standard input, where a source is that, to a temporary file, since it can be read but once; the
 * file goes when the result is disposed of.
 * @throws the signal's reason
 */
export async function copyInput(
  sources: readonly DataSource[],
  signal: AbortSignal,
): Promise<ReadableSources> {
  if (!sources.some(isStandardStream)) return { sources, async [Symbol.asyncDispose]() {} };
  const folder = await mkdtemp(join(tmpdir(), 'petstore-import-'));
  const remove = () => rm(folder, { recursive: true });
  try {
    const copy = join(folder, 'input');
    await pipeline(process.stdin, createWriteStream(copy, { mode: 0o600 }), { signal });
    return {
      sources: sources.map((source) => (isStandardStream(source) ? { ...source, copy } : source)),
      [Symbol.asyncDispose]: remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}
