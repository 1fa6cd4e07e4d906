import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { UsageError } from '../../../infra/cli/usage.ts';

export interface FuzzCommandOptions {
  readonly runs: number;
  readonly seed: number;
  /** The one case to repeat. */
  readonly only?: number;
  readonly help: boolean;
}

export const help = `Usage: npm run fuzz -- [options]

Sends hostile requests to the local stage and hostile events to its functions, and fails on an answer of 500
or more, an error without the contract's Error body, a changed store after a refusal, a forged or missing log
line, a secret in the log, an answer past its deadline, a crash, and memory that grows.

Options:
  --runs N     how many cases (default 100000)
  --seed S     an integer that gives the same cases again, but for keys and tags (default: a random one)
  --only CASE  one case by its number, shown with its answer
  -h, --help   show this
`;

const MOST_RUNS = 1_000_000_000;

/** @throws {UsageError} or what `parseArgs` throws, when the arguments are not ones that `help` tells of */
export function parseFuzzOptions(args: string[]): FuzzCommandOptions {
  const { values } = parseArgs({
    args,
    options: {
      runs: { type: 'string', default: '100000' },
      seed: { type: 'string', default: String(randomInt(2 ** 31)) },
      only: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const { runs, seed, only, help: isHelp } = values;
  return {
    runs: parseCount('--runs', runs, MOST_RUNS),
    seed: parseCount('--seed', seed, 2 ** 31 - 1),
    ...(only !== undefined && { only: parseCount('--only', only, MOST_RUNS) }),
    help: isHelp,
  };
}

function parseCount(option: string, text: string, most: number): number {
  const count = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (count <= most) return count;
  throw new UsageError(`Option '${option}' must be an integer from 0 to ${most}, not '${text}'`);
}
