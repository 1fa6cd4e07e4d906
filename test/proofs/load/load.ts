import { join } from 'node:path';
import { tell } from '../../../infra/cli/output.ts';
import { parseDuration } from '../../../infra/cli/time.ts';
import { buildPeer } from '../../bench/buildBundles.ts';
import { toText } from '../../bench/report.ts';
import { writeBundles } from '../../support/bundles.ts';
import { makeScratchFolder, parseInteger, runTestCommand } from '../../support/testCommand.ts';
import { sellToCrowds } from './crowds.ts';
import { compare, type Outcome, soak, startContender } from './runs.ts';

const help = `Usage: npm run load -- [options]

Loads the deployed bundles on the local stage, with the embedded DynamoDB in a thread. Compares them with
the peer (nine reads to an update), and lookups alone also with a floor of plain HTTP and the SDK, in one
run and in turns. Fails at any response other than 2xx and at any line of level ERROR.

Options:
  --seconds N       length of each turn of a contender (default 3)
  --crowds          instead, let crowds of buyers sell out one entry; also fail if one of them is refused,
                    a piece is sold twice, or it takes too long
  --soak 10m        instead, load the service alone with the mix for that long; also fail if its memory
                    does not stay flat
  -h, --help        show this
`;

const options = {
  seconds: { type: 'string', default: '3' },
  crowds: { type: 'boolean' },
  soak: { type: 'string' },
} as const;

await runTestCommand(help, options, async (values) => {
  const seconds = parseInteger('--seconds', values.seconds, 1, 9_999);
  const soakSeconds = values.soak && parseDuration('--soak', values.soak) / 1_000;
  const outdir = makeScratchFolder('load');
  tell('Building the bundles …');
  const bundles = await writeBundles(join(outdir, 'ours'));
  const outcomes: Outcome[] = [];
  if (values.crowds) {
    tell('Selling …');
    outcomes.push(await sellToCrowds(bundles));
  } else if (soakSeconds) {
    tell(`Soaking for ${soakSeconds} s …`);
    outcomes.push(await soak(await startContender('ours', bundles), soakSeconds));
  } else {
    const ours = await startContender('ours', bundles);
    const peer = await startContender('peer', await buildPeer(outdir));
    const floor = await startContender('floor', bundles);
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
