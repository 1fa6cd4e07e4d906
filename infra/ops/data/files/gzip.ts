import { createReadStream } from 'node:fs';
import { pipeline, type Transform } from 'node:stream';
import { createGunzip, createGzip } from 'node:zlib';

const CHUNK_BYTES = 65_536;

/** The bytes of a file, unpacked if it is gzip by its name. @throws {Error} that names the file */
export async function* readChunks(file: string): AsyncGenerator<Buffer, void, undefined> {
  const packed = createReadStream(file, { highWaterMark: CHUNK_BYTES });
  const gunzip = isGzip(file) ? createGunzip({ chunkSize: CHUNK_BYTES }) : undefined;
  try {
    yield* gunzip ? pipeline(packed, gunzip, () => {}) : packed;
  } catch (error) {
    throw new Error(`${file} cannot be read: ${(error as Error).message}.`);
  }
}

/** What packs the bytes of a file that is gzip by its name: one step, or none. */
export function toPacking(file: string): Transform[] {
  return isGzip(file) ? [createGzip()] : [];
}

export function isGzip(file: string): boolean {
  return /\.gz$/i.test(file);
}
