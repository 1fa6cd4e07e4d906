import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runCommand, UsageError } from '../../../infra/cli/usage.ts';
import { toText } from '../../bench/report.ts';
import { dynoxideIsInstalled } from '../../engines/engineProcess.ts';
import { check, type Verdict } from './checker/checker.ts';
import { explore, toReport } from './interleavings/explore.ts';
import { type RegisterRun, runRegister } from './runRegister.ts';

const help = `Usage: npm run register -- [--clients N] [--seconds N] [--seed S] [--engine NAME]
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

/**
 * What "acknowledged means stored" is held to, entry by entry, and what it is not:
 *
 * - An update whose answer never came (a broken connection, a 5xx) may take effect at any time after it was
 *   sent, or never.
 * - An unconditional update that the SDK repeats, as the answer of the database was lost, may take effect
 *   twice around another's. The stage's database dies with the SDK, so no kill loses its answers, and this is
 *   not allowed here. On a machine that has the database take more than 3 s for an answer, it could happen:
 *   look at the longest answer before you believe a violation of that kind.
 */
await runCommand(async (args) => {
  const options = parseRegisterOptions(args);
  if (options.help) return void process.stdout.write(help);
  if (options.schedules !== undefined) return runSchedules(options.schedules, options.seed);
  const folder = mkdtempSync(join(tmpdir(), 'petstore-register-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  process.once('SIGINT', () => process.exit(130));
  process.once('SIGTERM', () => process.exit(143));
  const run = await runRegister(options, folder, (kills) => {
    process.stderr.write(`Killed ${kills} times …\n`);
  });
  const verdicts = run.entries.map(({ petId, first, history }) => {
    return { petId, ...check(history, first) };
  });
  report(run, verdicts, options);
  for (const { petId, kind } of verdicts.filter(({ kind }) => kind !== 'linearizable')) {
    const file = join(tmpdir(), `petstore-register-${options.seed}-${petId}.json`);
    const entry = run.entries.find((one) => one.petId === petId);
    writeFileSync(file, JSON.stringify(entry, null, 1));
    process.stderr.write(`${petId}: ${kind}; its history is in ${file}\n`);
    process.exitCode = 1;
  }
});
// Clients that failed would hold the process.
process.exit();

async function runSchedules(count: number, seed: number): Promise<void> {
  const found = await explore({ count, seed }, ({ trace }, index) => {
    if (count === 1) process.stdout.write(`${trace.join('\n')}\n\n`);
    else if (index % 10_000 === 9_999) process.stderr.write(`${index + 1} schedules …\n`);
  });
  process.stdout.write(toReport(found, `${count} schedules from seed ${seed}`));
  if (found.problems.size > 0) process.exitCode = 1;
}

type EntryVerdict = Verdict & { readonly petId: string };

function report(
  { entries, figures, kills }: RegisterRun,
  verdicts: readonly EntryVerdict[],
  { json, seconds, clients, seed, engine }: RegisterOptions,
): void {
  if (json) {
    const data = { seconds, clients, seed, engine, kills, figures, verdicts };
    return void process.stdout.write(`${JSON.stringify(data, null, 2)}\n`);
  }
  const unknown = figures.unknownByKill + figures.unknownByCut + figures.unknownByStatus;
  const title = `Acknowledged means stored: ${clients} clients for ${seconds} s on ${engine}, seed ${seed}`;
  const figureRows = [
    ['operations', figures.operations],
    ['answered 200', figures.ok],
    ['answered 412', figures.refused],
    ['outcome unknown', unknown],
    ['… as the stage was killed', figures.unknownByKill],
    ['… as the client left', figures.unknownByCut],
    ['… as the answer was a 5xx', figures.unknownByStatus],
    ['kills by SIGKILL', kills],
    ['longest answer, ms', figures.longestAnswer],
  ] as const;
  const text = toText({
    title,
    columns: [{ name: '' }, { name: 'count' }],
    rows: figureRows,
    goals: [],
    notes: [],
  });
  const verdictRows = verdicts.map((verdict, index) => [
    verdict.petId,
    verdict.kind,
    entries[index]?.history.length,
    verdict.steps,
  ]);
  const columns = ['petId', 'history', 'operations', 'steps'].map((name) => ({ name }));
  const notes = verdicts.flatMap((verdict) =>
    verdict.kind !== 'linearizable' ? [`${verdict.petId}: ${verdict.reason}`] : [],
  );
  const verdictText = toText({ title: 'Entries', columns, rows: verdictRows, goals: [], notes });
  process.stdout.write(`${text}\n${verdictText}`);
}

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

/** @throws {UsageError} or what `parseArgs` throws, when the arguments are not ones that `help` tells of */
function parseRegisterOptions(args: string[]): RegisterOptions {
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
