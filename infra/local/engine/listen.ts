import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StartFailure } from './startFailure.ts';

/**
 * Makes a server listen on the loopback, and returns the port.
 * @param port 0 lets the system pick one
 * @param option the option that another port can be given by
 * @throws {StartFailure} when the port cannot be used
 */
export async function listen(server: Server, port: number, option: string): Promise<number> {
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === 'EADDRINUSE' ? 'it is in use' : message;
    throw new StartFailure(
      `Port ${port} cannot be used: ${reason}. Give another one with ${option}, or 0 for any free one.`,
    );
  }
  return (server.address() as AddressInfo).port;
}
