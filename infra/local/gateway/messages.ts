import { randomUUID } from 'node:crypto';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { statusOfCode } from '../../../shared/contract/errorBody.ts';
import { apiVersion } from '../../../shared/contract/operation.ts';
import {
  buildErrorHeaders,
  buildPreflightHeaders,
  type GatewayError,
  MAX_BODY_BYTES,
  toErrorText,
  tooLargeResponses,
} from '../../gateway/gatewayErrors.ts';
import type { ProxyRequest } from '../../gateway/proxyEvent.ts';

// The requests that the gateway reads, and its own responses.

export interface GatewayRequest extends ProxyRequest {
  /** The address without origin and query. */
  readonly fullPath: string;
}

/** As on API Gateway, with any number of slashes before the stage. */
const inStage = new RegExp(`^/+${apiVersion}(/.*)$`);

export function toGatewayRequest({
  url = '',
  method = '',
  rawHeaders,
  socket,
}: IncomingMessage): GatewayRequest {
  // A target in absolute form replaces the Host header (RFC 9112 section 3.2.2).
  const [, host, target = url] = /^https?:\/\/([^/?]*)(.*)$/i.exec(url) ?? [];
  const [fullPath = ''] = target.split('?');
  const [, path = ''] = inStage.exec(fullPath) ?? [];
  return {
    requestId: randomUUID(),
    method,
    fullPath: fullPath || '/',
    path,
    query: new URLSearchParams(target.slice(fullPath.length)),
    headerLines: Array.from({ length: rawHeaders.length / 2 }, (_, index) => {
      const [name = '', value = ''] = rawHeaders.slice(2 * index, 2 * index + 2);
      return [name, name.toLowerCase() === 'host' ? (host ?? value) : value];
    }),
    sourceIp: socket.remoteAddress ?? '',
  };
}

/**
 * Reads the body as text. Bytes that are not UTF-8 become U+FFFD.
 * @returns `null` without a body, `undefined` as soon as it is too large
 */
export async function readBody(incoming: IncomingMessage): Promise<string | null | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) break;
    chunks.push(chunk);
  }
  // The rest is read and dropped: a client that is still sending would miss the response.
  incoming.resume();
  if (size > MAX_BODY_BYTES) return undefined;
  return size === 0 ? null : Buffer.concat(chunks).toString('utf8');
}

export interface GatewayResponse {
  readonly statusCode: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string | Buffer;
}

/**
 * The gateway's own error with the contract's Error body. The exception is a request too large for a function, where
 * AWS's own refusal cannot be replaced.
 */
export function toErrorResponse(error: GatewayError, requestId: string): GatewayResponse {
  if (error.code === 'payload_too_large') return payloadTooLarge;
  return {
    statusCode: statusOfCode[error.code],
    headers: {
      'Content-Type': 'application/json',
      'X-Request-Id': requestId,
      ...buildErrorHeaders(error, ['*']),
    },
    body: toErrorText(error),
  };
}

const { payload, body } = tooLargeResponses;
const payloadTooLarge = tooLargeResponse(
  payload.type,
  JSON.stringify({ message: payload.message }),
);
export const bodyTooLarge = tooLargeResponse(body.type, body.message);

function tooLargeResponse(type: string, text: string): GatewayResponse {
  const statusCode = statusOfCode.payload_too_large;
  return { statusCode, headers: { 'Content-Type': type }, body: text };
}

export function preflightResponse(allow: string, requestId: string): GatewayResponse {
  const headers = { 'X-Request-Id': requestId, ...buildPreflightHeaders(allow, ['*']) };
  return { statusCode: 204, headers, body: '' };
}

export function sendResponse(
  { statusCode, headers, body }: GatewayResponse,
  response: ServerResponse,
): void {
  const length = statusCode === 204 || statusCode === 304 ? undefined : Buffer.byteLength(body);
  response.writeHead(statusCode, {
    ...headers,
    ...(length !== undefined && { 'Content-Length': length }),
  });
  response.end(body);
}

/** A response that accepts everything and sends nothing. */
export function discardedResponse(): ServerResponse {
  const lost = new Writable({ write: (_chunk, _encoding, done) => done() });
  return Object.assign(lost, { writeHead: () => lost }) as unknown as ServerResponse;
}
