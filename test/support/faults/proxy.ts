import { createServer, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { listen } from '../../../infra/local/engine/loopback.ts';

/** What becomes of a request. `busy` changes its response to a 503; a foreign response replaces the service's. */
export type Fate = 'passed' | 'lost' | 'responseLost' | 'busy' | ForeignResponse;

export interface ForeignResponse {
  readonly status: number;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string;
}

/**
 * A proxy before the gateway.
 * @param decide may change the request's headers
 */
export async function startProxy(
  behind: string,
  decide: (request: IncomingMessage) => Fate | Promise<Fate>,
) {
  const { origin, pathname } = new URL(behind);
  /** The method, path and status of each. */
  const responses: string[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const fate = await decide(incoming);
    if (fate === 'lost') return void outgoing.destroy();
    const { method = '', url = '', headers } = incoming;
    const onward = request(origin, { method, path: url, headers }, (response) => {
      const { statusCode = 500 } = response;
      responses.push(`${method} ${url} ${statusCode}`);
      if (fate === 'responseLost') return void outgoing.destroy();
      if (typeof fate === 'object') {
        response.resume();
        return void outgoing.writeHead(fate.status, fate.headers).end(fate.body);
      }
      const status = fate === 'busy' ? 503 : statusCode;
      const changed = fate === 'busy' && { 'Retry-After': '1' };
      return void response.pipe(outgoing.writeHead(status, { ...response.headers, ...changed }));
    });
    incoming.pipe(onward);
  });
  return {
    baseUrl: `http://127.0.0.1:${await listen(server, 0, '')}${pathname}`,
    responses,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
