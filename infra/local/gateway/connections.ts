import { randomUUID } from 'node:crypto';
import type { Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { gatewayErrors } from '../../gateway/gatewayErrors.ts';
import { toErrorAnswer } from './messages.ts';

/**
 * Watches a server, and returns a function that closes it: requests that have arrived whole are
 * answered, then every connection ends. The server's own close would wait for connections on which
 * nothing was sent.
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
 * Answers bytes that are not an HTTP request, or one with headers past all limits. Behind a request that is
 * still being answered they wait for that answer: this one would be taken for it, and the request may be an
 * update that is stored.
 */
export function answerMalformedRequest(error: NodeJS.ErrnoException, socket: Duplex): void {
  // Node.js gives no other sight of a response that is under way; its own handler looks here too.
  const { _httpMessage: underWay } = socket as Duplex & { _httpMessage?: ServerResponse | null };
  if (error.code === 'ECONNRESET') socket.destroy(error);
  else if (underWay?.req.complete) underWay.once('finish', () => refuse(socket));
  else refuse(socket);
}

function refuse(socket: Duplex): void {
  if (!socket.writable) return;
  const { statusCode, headers, body } = toErrorAnswer(gatewayErrors.DEFAULT_4XX, randomUUID());
  const lines = Object.entries({
    ...headers,
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}`);
  socket.end(`HTTP/1.1 ${statusCode} Bad Request\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
}
