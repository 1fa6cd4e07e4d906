import { pipeline, type Readable } from 'node:stream';

/** How a body is compressed on its way: RFC 8878 and RFC 1952. */
export type ContentCoding = 'zstd' | 'gzip';

/**
 * The coding that a client would rather have than the body as it is (RFC 9110 section 12.5.3), or at least as
 * much; of the two zstd, unless gzip is preferred, since it takes a fraction of the time for fewer bytes. It has to
 * be named: what sends `*` may be older than it. Where a client names neither, the body is sent as it is.
 */
export function toContentCoding(acceptEncoding: string | undefined): ContentCoding | undefined {
  const qualities = new Map<string, number>();
  for (const element of (acceptEncoding ?? '').toLowerCase().split(',')) {
    const [coding = '', ...parameters] = element.split(';').map((part) => part.trim());
    qualities.set(coding, toQuality(parameters));
  }
  const zstd = qualities.get('zstd') ?? 0;
  const gzip = qualities.get('gzip') ?? qualities.get('x-gzip') ?? qualities.get('*') ?? 0;
  const best = Math.max(zstd, gzip);
  if (best === 0 || best < (qualities.get('identity') ?? 0)) return undefined;
  return zstd === best ? 'zstd' : 'gzip';
}

/** Compresses a stream chunk by chunk, so that what went in can leave before the stream has ended. */
export function compress(source: Readable, coding: ContentCoding): Readable {
  const compressor = toCompressor(coding);
  // A failure of either destroys the other; whoever reads the result is told by its error.
  pipeline(source, compressor, () => {});
  return compressor;
}

function toQuality(parameters: readonly string[]): number {
  const weight = parameters.find((parameter) => parameter.startsWith('q='));
  if (weight === undefined) return 1;
  return /^q=(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? Number(weight.slice(2)) : 0;
}

function toCompressor(coding: ContentCoding) {
  // Loading zlib takes a millisecond or two, so a cold start leaves it to the first who needs it.
  const { constants, createGzip, createZstdCompress } = process.getBuiltinModule('node:zlib');
  if (coding === 'gzip') return createGzip({ flush: constants.Z_SYNC_FLUSH });
  return createZstdCompress({
    flush: constants.ZSTD_e_flush,
    // The lowest: of a list it makes fewer bytes than gzip does, in a fifth of the time.
    params: { [constants.ZSTD_c_compressionLevel]: 1 },
  });
}
