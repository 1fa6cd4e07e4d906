/**
 * Takes the place of `node:zlib`, of which the SDK wants a checksum that DynamoDB does not use: only a
 * call loads it.
 */
export function crc32(data: string | NodeJS.ArrayBufferView, value?: number): number {
  return process.getBuiltinModule('node:zlib').crc32(data, value);
}
