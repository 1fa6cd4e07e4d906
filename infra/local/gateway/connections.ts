import { randomUUID } from 'node:crypto';
import type { Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { gatewayErrors } from '../../gateway/gatewayErrors.ts';
import { toErrorResponse } from './messages.ts';

/**
 * Watches a server, and returns a function that closes it. Fully received requests get their response, then every
 * connection ends. The server's own close would wait for connections without a request.
 */
export function defineDrain(server: Server): () => Promise<void> {
  const underWay = new Set<ServerResponse>();
  server.prependListener('request', (_, response) => {
    underWay.add(response);
    response.once('close', () => underWay.delete(response));
  });

  return async function drain() {
    for (const response of underWay) response.shouldKeepAlive = false;
    const closed = new Promise((resolve) => server.close(resolve));
    while ([...underWay].some(({ req }) => req.complete)) await setTimeout(2);
    server.closeAllConnections();
    await closed;
  };
}

/**
 * Responds to bytes that are not an HTTP request, or to headers beyond all limits. If an earlier request on the
 * connection still waits for its response, this waits too. Otherwise the client would take this for that response,
 * although the request may be an update that is stored.
 */
export function respondToMalformedRequest(error: NodeJS.ErrnoException, socket: Duplex): void {
  // Node.js shows a response in progress only here; its own handler uses it too.
  const { _httpMessage: underWay } = socket as Duplex & { _httpMessage?: ServerResponse | null };
  if (error.code === 'ECONNRESET') socket.destroy(error);
  else if (underWay?.req.complete) underWay.once('finish', () => refuse(socket));
  else refuse(socket);
}

function refuse(socket: Duplex): void {
  if (!socket.writable) return;
  const { statusCode, headers, body } = toErrorResponse(gatewayErrors.DEFAULT_4XX, randomUUID());
  const lines = Object.entries({
    ...headers,
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}`);
  socket.end(`HTTP/1.1 ${statusCode} Bad Request\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
}
