import type { IncomingMessage } from 'node:http';
import { MAX_BODY_BYTES } from '../../gateway/gatewayLimits.ts';

/**
 * Reads the body as text, in which bytes that are not UTF-8 become U+FFFD.
 * @returns `null` when there is none, `undefined` as soon as it proves too large
 */
export async function readBody(incoming: IncomingMessage): Promise<string | null | undefined> {
  if (Number(incoming.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return undefined;
  const chunks: Buffer[] = [];
  let size = 0;
  return new Promise((resolve, reject) => {
    incoming.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_BODY_BYTES) {
        chunks.push(chunk);
      } else {
        // The rest is read and dropped: a client that is still sending would miss the answer.
        chunks.length = 0;
        resolve(undefined);
      }
    });
    incoming.on('end', () => resolve(size === 0 ? null : Buffer.concat(chunks).toString('utf8')));
    incoming.on('error', reject);
    incoming.on('close', () => {
      if (!incoming.complete) reject(new Error('The client left before its request was whole.'));
    });
  });
}
