import { type IncomingMessage, request as requestPlain } from 'node:http';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';

/** How long a response may take, in milliseconds. */
const TIMEOUT = 10_000;

/** What a check of a stage learns by the way. */
export interface Checked {
  /** When its certificate ends; nothing, where it has none. */
  readonly certificateEnd?: Date;
}

/**
 * Lists one entry as a client does: that proves the name, the certificate, the gateway, a function, the key
 * and its table, and the inventory's.
 * @param ca a certificate to trust beside those that Node.js does
 * @throws {Error} that says what is wrong; never with the key
 */
export async function checkService(
  baseAddress: string,
  apiKey: string,
  ca?: string,
): Promise<Checked> {
  const url = new URL(`${baseAddress}/inventory?limit=1`);
  const signal = AbortSignal.timeout(TIMEOUT);
  const headers = { Authorization: `Bearer ${apiKey}` };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const send = url.protocol === 'https:' ? request : requestPlain;
    send(url, { headers, signal, ...(ca !== undefined && { ca }), agent: false }, resolve)
      .on('error', (error) => reject(new Error(`${baseAddress} gave no answer: ${error.message}`)))
      .end();
  });
  const { valid_to: end } = (response.socket as TLSSocket).getPeerCertificate?.() ?? {};
  const body = await text(response);
  const id = response.headers['x-request-id'];
  if (response.statusCode !== 200 || !isList(body)) {
    throw new Error(
      `GET ${url.pathname} answered ${response.statusCode} (request id ${id}): ${body.slice(0, 200)}`,
    );
  }
  return { ...(end && { certificateEnd: new Date(end) }) };
}

function isList(body: string): boolean {
  try {
    return Array.isArray(JSON.parse(body));
  } catch {
    return false;
  }
}
