import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Makes a server listen on the loopback, and returns the port.
 * @param port 0 lets the system choose one
 * @param option the option that sets another port
 * @throws {Error} when the port cannot be used
 */
export async function listen(server: Server, port: number, option: string): Promise<number> {
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === 'EADDRINUSE' ? 'it is in use' : message;
    throw new Error(
      `Port ${port} cannot be used: ${reason}. Choose another with ${option}, or 0 for any free one.`,
    );
  }
  return (server.address() as AddressInfo).port;
}

/** The message of a 403 to any other Host header. */
export const foreignHostRefusal = 'The Host header must name 127.0.0.1, localhost or [::1].';

/**
 * Whether a Host header names this machine. In DNS rebinding, a web page makes its own name resolve to this machine.
 * The browser lets it read the responses, since they come from its origin, but the Host header still has that name.
 */
export function isLoopbackHost(host: string | undefined): boolean {
  return /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/i.test(host ?? '');
}
