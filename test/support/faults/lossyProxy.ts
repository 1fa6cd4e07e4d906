import { createServer, request } from 'node:http';
import { listen } from '../../../infra/local/engine/loopback.ts';

/** A proxy before the gateway that breaks the connection instead of every tenth response. */
export async function startLossyProxy(behind: string) {
  let responses = 0;
  const { origin, pathname } = new URL(behind);
  const server = createServer((incoming, outgoing) => {
    const { method = 'GET', url = '/', headers } = incoming;
    const onward = request(origin, { method, path: url, headers }, (response) => {
      responses += 1;
      if (responses % 10 === 0) return outgoing.destroy();
      return response.pipe(outgoing.writeHead(response.statusCode ?? 500, response.headers));
    });
    incoming.pipe(onward);
  });
  return {
    baseUrl: `http://127.0.0.1:${await listen(server, 0, '')}${pathname}`,
    lost: () => Math.floor(responses / 10),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
