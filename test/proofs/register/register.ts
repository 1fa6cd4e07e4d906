import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runCommand, UsageError } from '../../../infra/cli/usage.ts';
import { toText } from '../../bench/report.ts';
import { dynoxideIsInstalled } from '../../engines/engineProcess.ts';
import { check } from './checker.ts';
import { explore, toReport } from './interleavings/explore.ts';
import { runRegister } from './runRegister.ts';

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
  const { values } = parseArgs({
    args,
    options: {
      clients: { type: 'string', default: '8' },
      seconds: { type: 'string', default: '60' },
      seed: { type: 'string', default: '1' },
      engine: { type: 'string', default: 'dynalite' },
      schedules: { type: 'string', default: '0' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return void process.stdout.write(help);
  const seed = parseWhole('--seed', values.seed, 0, 2 ** 32 - 1);
  const schedules = parseWhole('--schedules', values.schedules, 0, 2 ** 32 - 1);
  if (schedules > 0) return runSchedules(schedules, seed);
  const { engine } = values;
  if (engine !== 'dynalite' && engine !== 'dynoxide') {
    throw new UsageError(`Option '--engine' must be dynalite or dynoxide, not '${engine}'`);
  }
  if (engine === 'dynoxide' && !dynoxideIsInstalled) {
    throw new UsageError('Dynoxide is not installed: it is for linux-x64 alone');
  }
  await runClients({
    clients: parseWhole('--clients', values.clients, 1, 64),
    seconds: parseWhole('--seconds', values.seconds, 5, 3_600),
    seed,
    engine,
  });
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

async function runClients(options: Parameters<typeof runRegister>[0]): Promise<void> {
  const { clients, seconds, seed, engine } = options;
  const folder = mkdtempSync(join(tmpdir(), 'petstore-register-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  process.once('SIGINT', () => process.exit(130));
  process.once('SIGTERM', () => process.exit(143));
  const { entries, figures, kills } = await runRegister(options, folder, (count) => {
    process.stderr.write(`Killed ${count} times …\n`);
  });
  const figureText = toText({
    title: `Acknowledged means stored: ${clients} clients for ${seconds} s on ${engine}, seed ${seed}`,
    columns: [{ name: '' }, { name: 'count' }],
    rows: [
      ['operations', figures.operations],
      ['answered 200', figures.ok],
      ['answered 412', figures.refused],
      ['unknown, as the stage was killed', figures.unknownByKill],
      ['unknown, as the client left', figures.unknownByCut],
      ['unknown, as the answer was a 5xx', figures.unknownByStatus],
      ['kills by SIGKILL', kills],
      ['longest answer, ms', figures.longestAnswer],
    ],
  });
  const verdicts = entries.map((entry) => ({ ...entry, ...check(entry.history, entry.first) }));
  const wrong = verdicts.filter(({ kind }) => kind !== 'linearizable');
  const verdictText = toText({
    title: 'Entries',
    columns: ['petId', 'history', 'operations', 'steps'].map((name) => ({ name })),
    rows: verdicts.map(({ petId, kind, history, steps }) => [petId, kind, history.length, steps]),
    notes: wrong.map(({ petId, reason }) => `${petId}: ${reason}`),
  });
  process.stdout.write(`${figureText}\n${verdictText}`);
  for (const entry of wrong) {
    const file = join(tmpdir(), `petstore-register-${seed}-${entry.petId}.json`);
    writeFileSync(file, JSON.stringify(entry, null, 1));
    process.stderr.write(`${entry.petId}: ${entry.kind}; its history is in ${file}\n`);
    process.exitCode = 1;
  }
}

function parseWhole(option: string, text: string, least: number, most: number): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new UsageError(
    `Option '${option}' must be a whole number from ${least} to ${most}, not '${text}'`,
  );
}
