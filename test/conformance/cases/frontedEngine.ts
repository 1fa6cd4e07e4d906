import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Engine } from '../../../infra/local/engine/engine.ts';

/** The embedded engine behind a server, which is closed with it. */
export async function frontEngine(embedded: Engine, server: Server): Promise<Engine> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await embedded.close();
    },
  };
}
