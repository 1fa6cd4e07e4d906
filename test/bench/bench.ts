import { tell } from '../../infra/cli/output.ts';
import { makeScratchFolder, runTestCommand } from '../support/testCommand.ts';
import { buildBundles } from './buildBundles.ts';
import { startFunctionHost } from './functionHost.ts';
import { measureFirst } from './parts/first.ts';
import { measureList } from './parts/list.ts';
import { measureWarm } from './parts/warm.ts';
import { toText } from './report.ts';

const parts = { first: measureFirst, list: measureList, warm: measureWarm };
const partNames = Object.keys(parts) as (keyof typeof parts)[];

const text = {
  about:
    'Measures the deployed bundles against a peer (the same operations, written without looking at what they cost) and against a floor, in one run and in turns.',
  options: {
    only: {
      value: 'PART',
      choices: partNames,
      multiple: true,
      about: 'some parts; all without it',
    },
    quick: { about: 'fewer measurements, and no list of a million entries' },
  },
} as const;

await runTestCommand('bench', text, async ({ only = partNames, quick = false }) => {
  tell('Building the bundles …');
  const bundles = await buildBundles(makeScratchFolder('bench'));
  const host = await startFunctionHost(bundles);
  for (const name of partNames.filter((one) => only.includes(one))) {
    const sections = [await parts[name]({ host, bundles, quick })].flat();
    for (const section of sections) process.stdout.write(`${toText(section)}\n`);
  }
});
