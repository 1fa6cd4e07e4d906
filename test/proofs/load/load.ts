import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { tell } from '../../../infra/cli/output.ts';
import { parseDuration } from '../../../infra/cli/time.ts';
import { runCommand, UsageError } from '../../../infra/cli/usage.ts';
import { buildPeer } from '../../bench/buildBundles.ts';
import { toText } from '../../bench/report.ts';
import { writeBundles } from '../../support/bundles.ts';
import { startContender } from './contender.ts';
import { compare, type Outcome, soak } from './runs.ts';

const help = `Usage: npm run load -- [options]

Loads the deployed bundles on the local stage, with the embedded DynamoDB in a thread. Compares them with
the peer (nine reads to an update), and lookups alone also with a floor of plain HTTP and the SDK, in one
run and in turns. Fails at any response other than 2xx and at any line of level ERROR.

Options:
  --seconds N       length of each turn of a contender (default 3)
  --soak 10m        instead, load the service alone with the mix for that long; also fail if its memory
                    does not stay flat
  -h, --help        show this
`;

await runCommand(async (args) => {
  const { values } = parseArgs({
    args,
    options: {
      seconds: { type: 'string', default: '3' },
      soak: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return void process.stdout.write(help);
  if (!/^[1-9]\d{0,3}$/.test(values.seconds)) {
    throw new UsageError(`Option '--seconds' must be from 1 to 9999, not '${values.seconds}'`);
  }
  const soakSeconds = values.soak && parseDuration('--soak', values.soak) / 1_000;
  const outdir = mkdtempSync(join(tmpdir(), 'petstore-load-'));
  process.once('exit', () => rmSync(outdir, { recursive: true, force: true }));
  process.once('SIGINT', () => process.exit(130));
  tell('Building the bundles …');
  const bundles = await writeBundles(join(outdir, 'ours'));
  const ours = await startContender('ours', bundles);
  const outcomes: Outcome[] = [];
  if (soakSeconds) {
    tell(`Soaking for ${soakSeconds} s …`);
    outcomes.push(await soak(ours, soakSeconds));
  } else {
    const peer = await startContender('peer', await buildPeer(outdir));
    const floor = await startContender('floor', bundles);
    const seconds = Number(values.seconds);
    tell('lookups …');
    // 0.7 of the floor's throughput.
    outcomes.push(await compare('lookups', [ours, peer, floor], seconds, 1.43));
    tell('the mix …');
    outcomes.push(await compare('mix', [ours, peer], seconds, 1));
  }
  for (const { section } of outcomes) process.stdout.write(`${toText(section)}\n`);
  const problems = outcomes.flatMap((outcome) => outcome.problems);
  for (const problem of problems) tell(problem);
  if (problems.length > 0) process.exitCode = 1;
});
// The contenders' processes would keep this one alive; they end with it.
process.exit();
