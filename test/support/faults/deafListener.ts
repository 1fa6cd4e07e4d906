import { once } from 'node:events';
import { createServer } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

/** A thread that listens on a port and then stands still, so that it accepts nothing, until it is woken. */
const { port, signal } = workerData as { port: number; signal: Int32Array };
const server = createServer().listen({ port, host: '127.0.0.1', backlog: 1 });
await once(server, 'listening');
parentPort?.postMessage('listening');
Atomics.wait(signal, 0, 0);
process.exit();
