import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

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
