import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../../infra/cli/usage.ts';
import { help, type PartName, parseBenchOptions } from './benchOptions.ts';
import { buildBundles } from './bundles/buildBundles.ts';
import { measureBytes } from './parts/bytes.ts';
import { measureCold } from './parts/cold.ts';
import { measureFirst } from './parts/first.ts';
import { measureList } from './parts/list.ts';
import type { Part } from './parts/part.ts';
import { measureReplacements } from './parts/replacements.ts';
import { measureWarm } from './parts/warm.ts';
import { type Section, toText } from './report/section.ts';

const parts: Record<PartName, Part> = {
  cold: measureCold,
  first: measureFirst,
  list: measureList,
  warm: measureWarm,
  bytes: measureBytes,
  replacements: measureReplacements,
};

await runCommand(async (args) => {
  const options = parseBenchOptions(args);
  if (options.help) return void process.stdout.write(help);
  const sections: Partial<Record<PartName, readonly Section[]>> = {};
  const outdir = mkdtempSync(join(tmpdir(), 'petstore-bench-'));
  process.once('exit', () => rmSync(outdir, { recursive: true, force: true }));
  process.once('SIGINT', () => process.exit(130));
  report('Building the bundles');
  const bundles = await buildBundles(outdir);
  for (const name of options.parts) {
    const measured = await parts[name]({ bundles, report, ...options });
    sections[name] = measured;
    if (!options.json) process.stdout.write(`${measured.map(toText).join('\n')}\n`);
  }
  const run = { node: process.version, quick: options.quick, sections };
  if (options.json) process.stdout.write(`${JSON.stringify(run, null, 2)}\n`);
});
// A benchmark that failed leaves processes behind that would keep this one; they end with it.
process.exit();

/** Standard output is for the figures. */
function report(line: string): void {
  process.stderr.write(`${line} …\n`);
}
