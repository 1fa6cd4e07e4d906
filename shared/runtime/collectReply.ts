import type { Readable } from 'node:stream';

/**
 * The bytes of a reply. The SDK's own way is to ask whether they come in a stream of the web, for which Node.js loads
 * all of those, and to pipe them into a stream, for which it makes the ones of the standard output: some
 * milliseconds of each cold start.
 */
export function collectReply(reply: Readable): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    reply.on('data', (chunk: Buffer) => chunks.push(chunk));
    reply.on('end', () => resolve(Buffer.concat(chunks)));
    reply.on('error', reject);
  });
}
