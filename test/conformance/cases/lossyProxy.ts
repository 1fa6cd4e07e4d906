import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface LossyProxy {
  /** The base address through the proxy. */
  readonly baseUrl: string;
  /** How many answers it has lost. */
  readonly lost: number;
  close(): void;
}

/**
 * A proxy before the gateway that breaks the connection in place of every tenth answer.
 * @param behind the base address of the gateway
 */
export async function startLossyProxy(behind: string): Promise<LossyProxy> {
  let answers = 0;
  let lost = 0;
  const { origin, pathname } = new URL(behind);
  const server = createServer((incoming, outgoing) => {
    const { method = 'GET', url = '/', headers } = incoming;
    const onward = request(origin, { method, path: url, headers });
    onward.on('response', (response) => {
      answers += 1;
      if (answers % 10 === 0) {
        lost += 1;
        return outgoing.destroy();
      }
      outgoing.writeHead(response.statusCode ?? 500, response.headers);
      return response.pipe(outgoing);
    });
    incoming.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`,
    get lost() {
      return lost;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
