import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../../../infra/cli/usage.ts';
import { buildPeer } from '../../bench/buildBundles.ts';
import { toText } from '../../bench/report.ts';
import { synthesizeBundlesInto } from '../../support/synthesizedAssembly.ts';
import { compare } from './comparison.ts';
import { type Outcome, startContender } from './contender.ts';
import { help, type LoadOptions, parseLoadOptions } from './loadOptions.ts';
import { soak } from './soak.ts';

/** An odd number, so that a median is a measurement. */
const ROUNDS = 15;

await runCommand(async (args) => {
  const options = parseLoadOptions(args);
  if (options.help) return void process.stdout.write(help);
  const outdir = mkdtempSync(join(tmpdir(), 'petstore-load-'));
  process.once('exit', () => rmSync(outdir, { recursive: true, force: true }));
  process.once('SIGINT', () => process.exit(130));
  const outcomes = await run(options, outdir);
  const sections = outcomes.map(({ section }) => section);
  const problems = outcomes.flatMap((outcome) => outcome.problems);
  process.stdout.write(
    options.json
      ? `${JSON.stringify({ node: process.version, ...options, sections, problems }, null, 2)}\n`
      : sections.map((section) => `${toText(section)}\n`).join(''),
  );
  for (const problem of problems) report(problem);
  if (problems.length > 0) process.exitCode = 1;
});
// A run that failed leaves processes behind that would keep this one; they end with it.
process.exit();

async function run(options: LoadOptions, outdir: string): Promise<Outcome[]> {
  const { seconds, connections, soakSeconds, profile } = options;
  report('Building the bundles …');
  const bundles = synthesizeBundlesInto(join(outdir, 'assembly'));
  const ours = await startContender({ name: 'ours', bundles }, profile);
  if (soakSeconds !== undefined) {
    report(`Soaking for ${soakSeconds} s …`);
    const outcome = await soak(ours, connections, soakSeconds);
    await ours.process.end();
    return [outcome];
  }
  const peer = await startContender({ name: 'peer', bundles: await buildPeer(outdir) }, profile);
  const floor = await startContender({ name: 'floor', bundles }, profile);
  report('lookups …');
  const lookups = await compare({
    title: 'Lookups of pets',
    contenders: [ours, peer, floor],
    settings: { load: 'lookups', connections, seconds },
    rounds: ROUNDS,
    // 0.7 of the floor's throughput.
    maxRatio: 1.43,
  });
  report('the mix …');
  const mix = await compare({
    title: 'The mix of nine reads to an update',
    contenders: [ours, peer],
    settings: { load: 'mix', connections, seconds },
    rounds: ROUNDS,
    maxRatio: 1,
  });
  for (const contender of [ours, peer, floor]) await contender.process.end();
  return [lookups, mix];
}

/** Standard output is for the figures. */
function report(line: string): void {
  process.stderr.write(`${line}\n`);
}
