import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { apiVersion } from '../../../shared/contract/operation.ts';

/** A request with what the gateway makes of its first lines. */
export interface GatewayRequest {
  readonly requestId: string;
  readonly method: string;
  /** The address without origin and query. */
  readonly fullPath: string;
  /** Relative to the base address; `undefined` outside the stage. */
  readonly path: string | undefined;
  readonly query: URLSearchParams;
  /** In the client's case and order. */
  readonly headerLines: readonly (readonly [name: string, value: string])[];
  readonly sourceIp: string;
}

export function toGatewayRequest(incoming: IncomingMessage): GatewayRequest {
  const [path = '', query = ''] = splitOnce(toTarget(incoming.url ?? ''), '?');
  const base = `/${apiVersion}`;
  return {
    requestId: randomUUID(),
    method: incoming.method ?? '',
    fullPath: path,
    path: path === base || path.startsWith(`${base}/`) ? path.slice(base.length) : undefined,
    query: new URLSearchParams(query),
    headerLines: toPairs(incoming.rawHeaders),
    sourceIp: incoming.socket.remoteAddress ?? '',
  };
}

/** Drops the origin that a request to a proxy has: `GET http://127.0.0.1:3000/v1/inventory`. */
function toTarget(url: string): string {
  return url.replace(/^https?:\/\/[^/?]*/i, '');
}

function splitOnce(text: string, separator: string): string[] {
  const index = text.indexOf(separator);
  return index < 0 ? [text] : [text.slice(0, index), text.slice(index + 1)];
}

function toPairs(rawHeaders: readonly string[]): [string, string][] {
  return Array.from({ length: rawHeaders.length / 2 }, (_, index) => [
    rawHeaders[2 * index] ?? '',
    rawHeaders[2 * index + 1] ?? '',
  ]);
}
