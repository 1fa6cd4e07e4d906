import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { parentPort, Worker, workerData } from 'node:worker_threads';

/** When a connection becomes silent: before it is made, or before its TLS handshake. */
export type Silence = 'connection' | 'handshake';

/** A port that neither responds nor refuses. Swallowed clients stay so after it is closed. */
export interface BlackHole {
  close(): Promise<void>;
}

export function openBlackHole(port: number, silence: Silence): Promise<BlackHole> {
  return silence === 'handshake' ? acceptInSilence(port) : acceptNothing(port);
}

async function acceptInSilence(port: number): Promise<BlackHole> {
  // A client may give up with a reset.
  const server = createServer((socket) => void socket.resume().on('error', () => {}));
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return { close: async () => void server.close() };
}

/** Connections: systems queue a few more than the one that the thread asks for. */
const MORE_THAN_FIT = 8;

/**
 * Listens in a thread that stands still, and fills the queue of connections to accept. The system then drops
 * every new connection, as a firewall does.
 */
async function acceptNothing(port: number): Promise<BlackHole> {
  const signal = new Int32Array(new SharedArrayBuffer(4));
  const thread = new Worker(new URL(import.meta.url), { workerData: { deafPort: port, signal } });
  await once(thread, 'message');
  const waiting = Array.from({ length: MORE_THAN_FIT }, () =>
    connect(port, '127.0.0.1').on('error', () => {}),
  );
  // The system has now made all connections that fit, since both ends are on this machine.
  await setImmediate();
  return {
    async close() {
      for (const socket of waiting) socket.destroy();
      const ended = once(thread, 'exit');
      Atomics.store(signal, 0, 1);
      Atomics.notify(signal, 0);
      await ended;
    },
  };
}

/** In the thread: listens, then stands still and accepts nothing until it is woken. */
if (parentPort && workerData?.deafPort) {
  const { deafPort: port, signal } = workerData as { deafPort: number; signal: Int32Array };
  const server = createServer().listen({ port, host: '127.0.0.1', backlog: 1 });
  await once(server, 'listening');
  parentPort.postMessage('listening');
  Atomics.wait(signal, 0, 0);
  process.exit();
}
