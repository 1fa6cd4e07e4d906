import { parseArgs } from 'node:util';
import { UsageError } from '../cli/usage.ts';
import {
  type FaultInjection,
  type InjectedFailure,
  injectedStatuses,
} from './gateway/faultInjection.ts';

export interface Options {
  /** 0 lets the system pick one. */
  readonly port: number;
  /** A file of data to load. */
  readonly data?: string;
  /** A folder that keeps the data between runs. */
  readonly dir?: string;
  /** The port on which commands reach the tables; 0 lets the system pick one. Without it they have no fixed one. */
  readonly enginePort?: number;
  /** Errors and delays to try clients with. */
  readonly faultInjection: FaultInjection;
  readonly help: boolean;
}

export const help = `Usage: npm start -- [options]

Runs the service on this machine: the four functions behind a gateway on the loopback address, with
the data in an embedded DynamoDB, and beside them the documentation, in which requests can be tried.
Logs go to standard error.

Options:
  --port N          the port to listen on (default 3000; 0 picks a free one)
  --data FILE.json  the data to load: {"inventory": [...], "pets": [...], "orders": [...]}
                    (default: a sample of fifty pets and twenty orders)
  --dir FOLDER      keep the data in this folder between runs (default: in memory), which holds
                    nothing else. One that holds data already is used as it is; with --data, the file's entries are put
                    over those that it holds. The API key is a new one at each start.
  --fail 503:0.1    answer a tenth of the requests so, with the contract's headers and body, to try
                    clients with; any status of an error, may be repeated
  --delay 200ms     answer every request that much later
  --expose-dynamodb PORT
                    let npm run keys, import and export work on these tables, by
                    --endpoint http://127.0.0.1:PORT (0 picks a free port)
  -h, --help        show this

Stop it with Ctrl-C. Requests under way are answered first; a second Ctrl-C ends it at once.
`;

/** @throws {UsageError} when the arguments are not ones that `help` tells of */
export function parseOptions(args: string[]): Options {
  const { port, fail, delay, 'expose-dynamodb': enginePort, ...values } = parse(args);
  const faultInjection = { failures: parseFailures(fail), delayMilliseconds: parseDelay(delay) };
  return {
    ...values,
    port: parsePort('--port', port),
    ...(enginePort !== undefined && { enginePort: parsePort('--expose-dynamodb', enginePort) }),
    faultInjection,
    help: values.help ?? false,
  };
}

function parse(args: string[]) {
  try {
    const { values } = parseArgs({
      args,
      options: {
        port: { type: 'string', default: '3000' },
        data: { type: 'string' },
        dir: { type: 'string' },
        'expose-dynamodb': { type: 'string' },
        fail: { type: 'string', multiple: true, default: [] },
        delay: { type: 'string', default: '0ms' },
        help: { type: 'boolean', short: 'h' },
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

function parsePort(option: string, text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new UsageError(`Option '${option}' must be a number from 0 to 65535, not '${text}'`);
}

function parseFailures(texts: readonly string[]): InjectedFailure[] {
  const failures = texts.map((text) => {
    const [, status, share] = /^(\d{3}):(0?\.\d+|[01](?:\.0+)?)$/.exec(text) ?? [];
    if (!injectedStatuses.includes(Number(status))) {
      const known = injectedStatuses.join(', ');
      throw new UsageError(
        `Option '--fail' must be such as 503:0.1, with a share from 0 to 1 and one of ${known}, not '${text}'`,
      );
    }
    return { status: Number(status), share: Number(share) };
  });
  const sum = failures.reduce((total, { share }) => total + share, 0);
  // Shares such as 0.1 and 0.2 are not quite what they are in decimals.
  if (sum <= 1 + Number.EPSILON * failures.length) return failures;
  throw new UsageError(`The shares of '--fail' must not be more than 1 together, not ${sum}`);
}

/** Milliseconds; as long as the gateway waits for a function, at most. */
function parseDelay(text: string): number {
  const [, count, unit] = /^(\d{1,5})(ms|s)$/.exec(text) ?? [];
  const delay = Number(count) * (unit === 's' ? 1_000 : 1);
  if (delay <= 29_000) return delay;
  throw new UsageError(`Option '--delay' must be such as 200ms or 2s, up to 29s, not '${text}'`);
}
