import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { gatewayErrors } from '../../gateway/gatewayErrors.ts';
import { toErrorAnswer } from './messages.ts';

/**
 * Watches a server, and returns a function that closes it: requests that have arrived whole are
 * answered, and every other connection ends. The server's own close would wait for connections on which
 * nothing was sent.
 */
export function defineDrain(server: Server): () => Promise<void> {
  const exchanges = new Map<Socket, Set<ServerResponse>>();
  let isClosing = false;

  server.on('connection', (socket: Socket) => {
    exchanges.set(socket, new Set());
    socket.once('close', () => exchanges.delete(socket));
  });

  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const underWay = exchanges.get(socket);
    underWay?.add(response);
    if (isClosing) response.shouldKeepAlive = false;
    response.once('close', () => {
      underWay?.delete(response);
      if (isClosing && underWay?.size === 0) socket.destroySoon();
    });
  });

  return async function drain() {
    isClosing = true;
    const closed = new Promise((resolve) => server.close(resolve));
    for (const [socket, underWay] of exchanges) {
      const responses = [...underWay];
      for (const response of responses) response.shouldKeepAlive = false;
      if (!responses.some(({ req }) => req.complete)) socket.destroy();
    }
    await closed;
  };
}

/**
 * Hands the requests that Node.js has events of their own for to whoever listens for requests: by itself it
 * answers an expectation that it does not know with a bare 417, and drops a request for a tunnel.
 */
export function answerRareRequests(server: Server): void {
  server.on('checkExpectation', (incoming, response) => {
    server.emit('request', incoming, response);
  });
  server.on('connect', (incoming, socket: Socket) => {
    // The server has let go of the connection.
    socket.on('error', () => {});
    const response = new ServerResponse(incoming);
    response.shouldKeepAlive = false;
    response.once('finish', () => socket.destroySoon());
    response.assignSocket(socket);
    server.emit('request', incoming, response);
  });
}

/** Whether the client expects something else than to be told to go on: https://www.rfc-editor.org/rfc/rfc9110#section-10.1.1 */
export function hasUnmetExpectation({ headers: { expect } }: IncomingMessage): boolean {
  return expect !== undefined && expect.toLowerCase() !== '100-continue';
}

/**
 * Answers bytes that are not an HTTP request, or one with headers past all limits. Behind a request that is
 * still being answered they wait for that answer: this one would be taken for it, and the request may be an
 * update that is stored.
 */
export function answerMalformedRequest(error: NodeJS.ErrnoException, socket: Duplex): void {
  // Node.js gives no other sight of a response that is under way; its own handler looks here too.
  const { _httpMessage: underWay } = socket as Duplex & { _httpMessage?: ServerResponse | null };
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy(error);
  } else if (underWay?.req.complete) {
    underWay.once('finish', () => refuse(socket));
  } else if (underWay?.headersSent) {
    // Bytes behind the beginning of a response would be taken for a part of it.
    socket.destroy(error);
  } else {
    refuse(socket);
  }
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
