import { tell } from '../../../infra/cli/output.ts';
import { parseDuration } from '../../../infra/cli/time.ts';
import { toText } from '../../bench/report.ts';
import { writeBundles } from '../../support/bundles.ts';
import { makeScratchFolder, runTestCommand } from '../../support/testCommand.ts';
import { sellToCrowds } from './crowds.ts';
import { soak, startService } from './soak.ts';

const help = `Usage: npm run load -- [options]

Loads the deployed bundles on the local stage, with the embedded DynamoDB in a thread: nine reads to an update.
Fails at any response other than 2xx, at any line of level ERROR, and if the service's memory does not stay flat.

Options:
  --soak 10m        the length of the load (default 1m)
  --crowds          instead, let crowds of buyers sell out one entry; fail if one of them is refused, a piece is
                    sold twice, or it takes too long
  -h, --help        show this
`;

const options = { crowds: { type: 'boolean' }, soak: { type: 'string', default: '1m' } } as const;

await runTestCommand(help, options, async ({ crowds, soak: duration }) => {
  const seconds = parseDuration('--soak', duration) / 1_000;
  tell('Building the bundles …');
  const bundles = await writeBundles(makeScratchFolder('load'));
  tell(crowds ? 'Selling …' : `Soaking for ${seconds} s …`);
  const { section, problems } = crowds
    ? await sellToCrowds(bundles)
    : await soak(await startService(bundles), seconds);
  process.stdout.write(`${toText(section)}\n`);
  for (const problem of problems) tell(problem);
  if (problems.length > 0) process.exitCode = 1;
});
