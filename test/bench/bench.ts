import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runCommand, UsageError } from '../../infra/cli/usage.ts';
import { buildBundles } from './buildBundles.ts';
import type { PartInput } from './functionHost.ts';
import { measureBytes } from './parts/bytes.ts';
import { measureFirst } from './parts/first.ts';
import { measureList } from './parts/list.ts';
import { measureWarm } from './parts/warm.ts';
import { type Section, toText } from './report.ts';

const partNames = ['first', 'list', 'warm', 'bytes'] as const;
type PartName = (typeof partNames)[number];

const help = `Usage: npm run bench -- [options]

Measures the deployed bundles against the same operations as one writes them without looking at what
they cost (the peer), and against a floor, all in one run and in turns.

Options:
  --only PART       one of first, list, warm and bytes; may be repeated (default: all)
  --quick           fewer measurements, and no list of a million entries
  --json            print the figures as JSON
  --profile FOLDER  leave a CPU profile of each function process of first, list and warm in
                    this folder, to open in Chrome's developer tools; the figures are then a
                    little higher
  --help            show this
`;

const parts: Record<PartName, (input: PartInput) => Promise<readonly Section[]>> = {
  first: measureFirst,
  list: measureList,
  warm: measureWarm,
  bytes: measureBytes,
};

await runCommand(async (args) => {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string', multiple: true, default: [...partNames] },
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      profile: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const { only, quick, json, profile, help: wantsHelp } = values;
  if (wantsHelp) return void process.stdout.write(help);
  const wanted = partNames.filter((name) => only.includes(name));
  if (new Set(only).size > wanted.length) {
    throw new UsageError(`Option '--only' must be one of ${partNames.join(', ')}`);
  }
  const outdir = mkdtempSync(join(tmpdir(), 'petstore-bench-'));
  process.once('exit', () => rmSync(outdir, { recursive: true, force: true }));
  process.once('SIGINT', () => process.exit(130));
  report('Building the bundles');
  const bundles = await buildBundles(outdir);
  const sections: Partial<Record<PartName, readonly Section[]>> = {};
  for (const name of wanted) {
    const measured = await parts[name]({ bundles, report, quick, profile });
    sections[name] = measured;
    if (!json) process.stdout.write(`${measured.map(toText).join('\n')}\n`);
  }
  const run = { node: process.version, quick, sections };
  if (json) process.stdout.write(`${JSON.stringify(run, null, 2)}\n`);
});
// A benchmark that failed leaves processes behind that would keep this one; they end with it.
process.exit();

/** Standard output is for the figures. */
function report(line: string): void {
  process.stderr.write(`${line} …\n`);
}
