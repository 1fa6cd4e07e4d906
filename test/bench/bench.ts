import { tell } from '../../infra/cli/output.ts';
import { UsageError } from '../../infra/cli/usage.ts';
import { makeScratchFolder, runTestCommand } from '../support/testCommand.ts';
import { buildBundles } from './buildBundles.ts';
import { type PartInput, startFunctionHost } from './functionHost.ts';
import { measureFirst } from './parts/first.ts';
import { measureList } from './parts/list.ts';
import { measureWarm } from './parts/warm.ts';
import { type Section, toText } from './report.ts';

const help = `Usage: npm run bench -- [options]

Measures the deployed bundles against a peer (the same operations, written without looking at what they
cost) and against a floor, in one run and in turns.

Options:
  --only PART  one of first, list and warm; may be repeated (default: all)
  --quick      fewer measurements, and no list of a million entries
  --help       show this
`;

const parts: Record<string, (input: PartInput) => Promise<Section | Section[]>> = {
  first: measureFirst,
  list: measureList,
  warm: measureWarm,
};

const options = {
  only: { type: 'string', multiple: true, default: Object.keys(parts) },
  quick: { type: 'boolean', default: false },
} as const;

await runTestCommand(help, options, async ({ only, quick }) => {
  const unknown = only.find((name) => !(name in parts));
  if (unknown) throw new UsageError(`Option '--only' must be one of ${Object.keys(parts)}`);
  tell('Building the bundles …');
  const bundles = await buildBundles(makeScratchFolder('bench'));
  const host = await startFunctionHost(bundles);
  for (const [name, measure] of Object.entries(parts)) {
    if (!only.includes(name)) continue;
    const sections = [await measure({ host, bundles, quick })].flat();
    for (const section of sections) process.stdout.write(`${toText(section)}\n`);
  }
});
