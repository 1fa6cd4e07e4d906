import { once } from 'node:events';
import { type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { parseJson } from '../../shared/contract/json.ts';

export interface ExactRequest {
  readonly method?: string;
  /** Sent in this case and order. */
  readonly headers?: Record<string, string>;
  readonly body?: string | Uint8Array;
}

export type ExactResponse = Awaited<ReturnType<typeof exactFetch>>;

/**
 * Sends the request byte for byte; `fetch` would change header names to lower case and normalize the path.
 * Rejects if the connection breaks before the end of the body.
 */
export async function exactFetch(
  url: string,
  { method = 'GET', headers: sent, body }: ExactRequest = {},
) {
  const [, origin = '', path = ''] = /^(\w+:\/\/[^/]*)(.*)$/s.exec(url) ?? [];
  const request = origin.startsWith('https:') ? requestSecure : requestPlain;
  const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
  const outgoing = request(origin, { method, path, headers: { ...length, ...sent } });
  // If the connection breaks later, the body has the error.
  outgoing.on('error', () => {}).end(body);
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  const bytes = await buffer(response);
  const headers = new Headers();
  for (let index = 0; index < response.rawHeaders.length; index += 2) {
    headers.append(String(response.rawHeaders[index]), String(response.rawHeaders[index + 1]));
  }
  const text = bytes.toString('utf8');
  /** Integers past 2^53 are bigint. */
  const json = () => parseJson(text);
  return { status: response.statusCode ?? 0, headers, bytes, text, json };
}
