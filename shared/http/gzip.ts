import { pipeline, type Readable } from 'node:stream';

/** Compresses a stream chunk by chunk, so that what went in can leave before the stream has ended. */
export function toGzip(source: Readable): Readable {
  // Loading zlib takes a millisecond or two, so a cold start leaves it to the first who needs it.
  const { constants, createGzip } = process.getBuiltinModule('node:zlib');
  const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH });
  // A failure of either destroys the other; whoever reads the result is told by its error.
  pipeline(source, gzip, () => {});
  return gzip;
}
