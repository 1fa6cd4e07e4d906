import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../../../infra/cli/usage.ts';
import { toText } from '../../bench/report.ts';
import { check, type Verdict } from './checker/checker.ts';
import { explore, toReport } from './interleavings/explore.ts';
import { help, parseRegisterOptions, type RegisterOptions } from './registerOptions.ts';
import { type RegisterRun, runRegister } from './runRegister.ts';

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
