import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { parentPort, Worker, workerData } from 'node:worker_threads';

/** Where a connection ends in silence: before it is made, or before its TLS handshake. */
export type Silence = 'connection' | 'handshake';

/** Something on a port that neither answers nor refuses. Who was swallowed stays so once it is closed. */
export interface BlackHole {
  close(): Promise<void>;
}

/** Takes a port that nobody listens on. */
export function openBlackHole(port: number, silence: Silence): Promise<BlackHole> {
  return silence === 'handshake' ? acceptInSilence(port) : acceptNothing(port);
}

/** Accepts connections and never sends a byte. */
async function acceptInSilence(port: number): Promise<BlackHole> {
  // A client that gives up may do so with a reset.
  const server = createServer((socket) => void socket.resume().on('error', () => {}));
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return { close: async () => void server.close() };
}

/** Connections: systems let some more wait than the one that the thread asks for. */
const MORE_THAN_FIT = 8;

/**
 * Listens in a thread that stands still, and fills the queue of those who wait to be accepted: the system
 * then drops whatever else asks to connect, as a firewall does.
 */
async function acceptNothing(port: number): Promise<BlackHole> {
  const signal = new Int32Array(new SharedArrayBuffer(4));
  const thread = new Worker(new URL(import.meta.url), { workerData: { deafPort: port, signal } });
  await once(thread, 'message');
  const waiting = Array.from({ length: MORE_THAN_FIT }, () =>
    connect(port, '127.0.0.1').on('error', () => {}),
  );
  // Once they have been asked for, the system of this one machine has made those that fit.
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

/** In the thread: listens and then stands still, so that it accepts nothing, until it is woken. */
if (parentPort && workerData?.deafPort) {
  const { deafPort: port, signal } = workerData as { deafPort: number; signal: Int32Array };
  const server = createServer().listen({ port, host: '127.0.0.1', backlog: 1 });
  await once(server, 'listening');
  parentPort.postMessage('listening');
  Atomics.wait(signal, 0, 0);
  process.exit();
}
