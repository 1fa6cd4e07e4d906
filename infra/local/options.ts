import { parseArgs } from 'node:util';
import { UsageError } from '../cli/usage.ts';

export interface Options {
  /** 0 lets the system pick one. */
  readonly port: number;
  /** A file of data to load. */
  readonly data?: string;
  /** A folder that keeps the data between runs. */
  readonly dir?: string;
  readonly help: boolean;
}

export const help = `Usage: npm start -- [options]

Runs the service on this machine: the four functions behind a gateway on the loopback address, with
the data in an embedded DynamoDB. Logs go to standard error.

Options:
  --port N          the port to listen on (default 3000; 0 picks a free one)
  --data FILE.json  the data to load: {"inventory": [...], "pets": [...], "orders": [...]}
                    (default: a sample of fifty pets and twenty orders)
  --dir FOLDER      keep the data in this folder between runs (default: in memory). A folder that
                    holds data already is used as it is; with --data, the file's entries are put
                    over those that it holds. The API key is a new one at each start.
  --help            show this

Stop it with Ctrl-C. Requests under way are answered first; a second Ctrl-C ends it at once.
`;

/** @throws {UsageError} when the arguments are not ones that `help` tells of */
export function parseOptions(args: string[]): Options {
  const { port, ...values } = parse(args);
  return { ...values, port: parsePort(port), help: values.help ?? false };
}

function parse(args: string[]) {
  try {
    const { values } = parseArgs({
      args,
      options: {
        port: { type: 'string', default: '3000' },
        data: { type: 'string' },
        dir: { type: 'string' },
        help: { type: 'boolean' },
      },
    });
    for (const name of ['data', 'dir'] as const) {
      if (values[name] === '') throw new UsageError(`Option '--${name}' must not be empty`);
    }
    return values;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // What follows the first sentence explains parseArgs, not this program.
    throw new UsageError(error.message.split(/\. |\n/)[0]);
  }
}

function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new UsageError(`Option '--port' must be a number from 0 to 65535, not '${text}'`);
}
