import { parseArgs } from 'node:util';
import { UsageError } from '../../../infra/cli/usage.ts';
import { dynoxideIsInstalled } from '../../support/dynoxide.ts';

export interface RegisterOptions {
  readonly clients: number;
  /** For how long the clients are at work. */
  readonly seconds: number;
  readonly seed: number;
  readonly engine: 'dynalite' | 'dynoxide';
  /** How many schedules are run, in place of clients. */
  readonly schedules?: number;
  readonly json: boolean;
  readonly help: boolean;
}

export const help = `Usage: npm run register -- [--clients N] [--seconds N] [--seed S] [--engine NAME]
       npm run register -- --schedules N [--seed S]

Proves that acknowledged means stored: clients read and update a few entries at once, some requests are
broken off, and the local stage, on a folder, is killed with SIGKILL again and again and started anew.
Then each entry's history must be linearizable. Ends with status 1 when one is not, or is not decided.

With --schedules, runs updates of one entry against a database in memory, one call at a time: a seed draws when each
call reaches the database, whether it fails, loses its answer or comes too late, and when the function is killed. Each
200 must have one effect, and each 404 and 412 none. Ends with status 1 when one has not, with what happened.

Options:
  --clients N   how many clients are at work at once, 1 to 64 (default: 8)
  --seconds N   for how long, 5 to 3600 (default: 60); the stage is killed every 3 to 10 seconds
  --seed S      draws the same requests, cuts and kills again, though not how they meet (default: 1)
  --engine NAME dynalite, in the stage's process, or dynoxide, in one of its own that is killed too, where it is
                installed (default: dynalite)
  --schedules N how many schedules, of the seeds from --seed on, each the same again; with 1, shows it
  --json        print the figures as JSON
  --help        show this
`;

/** @throws {UsageError} or what `parseArgs` throws, when the arguments are not ones that `help` tells of */
export function parseRegisterOptions(args: string[]): RegisterOptions {
  const { values } = parseArgs({
    args,
    options: {
      clients: { type: 'string', default: '8' },
      seconds: { type: 'string', default: '60' },
      seed: { type: 'string', default: '1' },
      engine: { type: 'string', default: 'dynalite' },
      schedules: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const { schedules, engine, ...others } = values;
  if (engine !== 'dynalite' && engine !== 'dynoxide') {
    throw new UsageError(`Option '--engine' must be dynalite or dynoxide, not '${engine}'`);
  }
  if (engine === 'dynoxide' && !dynoxideIsInstalled) {
    throw new UsageError('Dynoxide is not installed: it is for linux-x64 alone');
  }
  return {
    ...others,
    engine,
    ...(schedules !== undefined && {
      schedules: parseWhole('--schedules', schedules, 1, 2 ** 32 - 1),
    }),
    clients: parseWhole('--clients', values.clients, 1, 64),
    seconds: parseWhole('--seconds', values.seconds, 5, 3_600),
    seed: parseWhole('--seed', values.seed, 0, 2 ** 32 - 1),
  };
}

function parseWhole(option: string, text: string, least: number, most: number): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new UsageError(
    `Option '${option}' must be a whole number from ${least} to ${most}, not '${text}'`,
  );
}
