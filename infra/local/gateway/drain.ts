import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

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
