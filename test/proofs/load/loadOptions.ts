import { parseArgs } from 'node:util';
import { parseDuration } from '../../../infra/cli/time.ts';
import { UsageError } from '../../../infra/cli/usage.ts';

export interface LoadOptions {
  /** How long each turn of a contender lasts. */
  readonly seconds: number;
  /** How many requests are under way at once. */
  readonly connections: number;
  /** How long a soak lasts, in seconds; without it the contenders are compared. */
  readonly soakSeconds?: number;
  readonly json: boolean;
  /** Where each contender's process leaves its CPU profile. */
  readonly profile?: string;
  readonly help: boolean;
}

export const help = `Usage: npm run load -- [options]

Puts the service under load, on the local stage with the bundles that are deployed and the embedded
DynamoDB in a thread of its own: beside the peer with nine reads to an update, and beside a floor, plain
HTTP with the SDK, with lookups alone; all in one run and in turns. Fails at any answer but 2xx and at any
line of level ERROR.

Options:
  --seconds N       how long each of a contender's turns lasts (default 3)
  --connections N   how many requests are under way at once (default 10)
  --soak 10m        instead, put the service alone under the mix for that long, and fail too when its
                    memory does not stay flat
  --json            print the figures as JSON
  --profile FOLDER  leave a CPU profile of each process in this folder; the figures are then lower
  --help            show this
`;

/** @throws {UsageError} or what `parseArgs` throws, when the arguments are not ones that `help` tells of */
export function parseLoadOptions(args: string[]): LoadOptions {
  const { values } = parseArgs({
    args,
    options: {
      seconds: { type: 'string', default: '3' },
      connections: { type: 'string', default: '10' },
      soak: { type: 'string' },
      json: { type: 'boolean', default: false },
      profile: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const { seconds, connections, soak, ...others } = values;
  return {
    ...others,
    seconds: parseCount('--seconds', seconds),
    connections: parseCount('--connections', connections),
    ...(soak !== undefined && { soakSeconds: parseSoak(soak) }),
  };
}

function parseCount(option: string, text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new UsageError(`Option '${option}' must be a number from 1 to 9999, not '${text}'`);
}

/** A shorter one would be over before V8 has compiled what it will. */
function parseSoak(text: string): number {
  const seconds = parseDuration('--soak', text) / 1_000;
  if (seconds >= 60) return seconds;
  throw new UsageError(`Option '--soak' must be 60s or more, not '${text}'`);
}
