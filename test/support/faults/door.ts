import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { type BlackHole, openBlackHole, type Silence } from './blackHole.ts';

/** A listening server's port, which can be shut and opened again. */
export interface Door {
  readonly port: number;
  /** Ends all connections and refuses so many new ones of this process; all, by default. */
  refuse(times?: number): Promise<void>;
  /** Ends all connections, and neither answers nor refuses new ones. */
  swallow(silence: Silence): Promise<void>;
  open(): Promise<void>;
  close(): Promise<void>;
}

export function defineDoor(server: Server | SecureServer): Door {
  const { port } = server.address() as AddressInfo;
  let left = 0;
  let hole: BlackHole | undefined;

  async function shut(): Promise<void> {
    if (!server.listening) return;
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  }

  async function fillIn(): Promise<void> {
    await hole?.close();
    hole = undefined;
  }

  async function open(): Promise<void> {
    unsubscribe('net.client.socket', watch);
    await fillIn();
    if (server.listening) return;
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  }

  /** Nobody but who was refused can tell of it: https://nodejs.org/api/diagnostics_channel.html#net */
  function watch(message: unknown): void {
    const { socket } = message as { socket: Socket };
    socket.once('error', (error: Error & { code?: string; port?: number }) => {
      if (error.code !== 'ECONNREFUSED' || error.port !== port) return;
      left -= 1;
      if (left === 0) void open();
    });
  }

  return {
    port,
    async refuse(times = Number.POSITIVE_INFINITY) {
      left = times;
      await shut();
      subscribe('net.client.socket', watch);
    },
    async swallow(silence) {
      await shut();
      hole = await openBlackHole(port, silence);
    },
    open,
    async close() {
      unsubscribe('net.client.socket', watch);
      await fillIn();
      await shut();
    },
  };
}
