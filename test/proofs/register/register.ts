import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '../../../infra/cli/usage.ts';
import { toText } from '../../bench/report.ts';
import { dynoxideIsInstalled } from '../../support/engines.ts';
import { makeScratchFolder, parseInteger, runTestCommand } from '../../support/testCommand.ts';
import { check } from './checker.ts';
import { explore, toReport } from './interleavings/explore.ts';
import { runRegister } from './runRegister.ts';

const help = `Usage: npm run register -- [--clients N] [--seconds N] [--seed S] [--engine NAME]
       npm run register -- --schedules N [--seed S]

Proves that acknowledged means stored. Clients read and update a few entries at once and abort some requests.
The local stage, on a folder, is repeatedly killed with SIGKILL and restarted. Then each entry's history must
be linearizable. Exits with status 1 if one is not, or is undecided.

With --schedules, runs updates of one entry against a database in memory, one call at a time. A seed draws when
each call reaches the database, whether it fails, loses its response or arrives late, and when the function is
killed. Each 200 must have one effect, and each 404 and 412 none. Otherwise exits with status 1 and shows the steps.

Options:
  --clients N   number of concurrent clients (default: 8)
  --seconds N   length of the run, at least 5 (default: 60); the stage is killed every 3 to 10 seconds
  --seed S      draws the same requests, aborts and kills, though not how they interleave (default: 1)
  --engine NAME dynalite, in the stage's process, or dynoxide if installed, in its own process that is killed
                too (default: dynalite)
  --schedules N number of schedules, with the seeds from --seed on; each seed gives one schedule; 1 shows its steps
  --help        show this
`;

const options = {
  clients: { type: 'string', default: '8' },
  seconds: { type: 'string', default: '60' },
  seed: { type: 'string', default: '1' },
  engine: { type: 'string', default: 'dynalite' },
  schedules: { type: 'string', default: '0' },
} as const;

await runTestCommand(help, options, async ({ engine, ...values }) => {
  const seed = parseInteger('--seed', values.seed);
  const schedules = parseInteger('--schedules', values.schedules);
  if (schedules > 0) return runSchedules(schedules, seed);
  if (engine !== 'dynalite' && engine !== 'dynoxide') {
    throw new UsageError(`Option '--engine' must be dynalite or dynoxide, not '${engine}'`);
  }
  if (engine === 'dynoxide' && !dynoxideIsInstalled) {
    throw new UsageError('Dynoxide is not installed: it exists only for linux-x64');
  }
  const clients = parseInteger('--clients', values.clients, 1);
  const seconds = parseInteger('--seconds', values.seconds, 5);
  await runClients({ clients, seconds, seed, engine });
});

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
  const folder = makeScratchFolder('register');
  const { entries, figures, kills } = await runRegister(options, folder, (count) => {
    process.stderr.write(`Killed ${count} times …\n`);
  });
  const figureText = toText({
    title: `Acknowledged means stored: ${clients} clients for ${seconds} s on ${engine}, seed ${seed}`,
    columns: ['', 'count'],
    rows: Object.entries({ ...figures, 'kills by SIGKILL': kills }),
  });
  const verdicts = entries.map((entry) => ({ ...entry, ...check(entry.history, entry.first) }));
  const wrong = verdicts.filter(({ kind }) => kind !== 'linearizable');
  const verdictText = toText({
    title: 'Entries',
    columns: ['petId', 'history', 'operations', 'steps'],
    rows: verdicts.map(({ petId, kind, history, steps }) => [petId, kind, history.length, steps]),
    notes: wrong.map(({ petId, reason }) => `${petId}: ${reason}`),
  });
  process.stdout.write(`${figureText}\n${verdictText}`);
  for (const entry of wrong) {
    const file = join(tmpdir(), `petstore-register-${seed}-${entry.petId}.json`);
    writeFileSync(file, JSON.stringify(entry, null, 1));
    process.stderr.write(`${entry.petId}: ${entry.kind}; see its history in ${file}\n`);
    process.exitCode = 1;
  }
}
