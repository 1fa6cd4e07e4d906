import { statSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join } from 'node:path';
import { benchedIds } from '../bundles/buildFile.ts';
import { startChild } from '../process/childProcess.ts';
import { toFunctionEnvironment } from '../process/functionEnvironment.ts';
import type { LoadSample } from '../process/loadProcess.ts';
import { interleave } from '../report/interleave.ts';
import type { Section } from '../report/section.ts';
import { summarize } from '../report/statistics.ts';
import type { PartInput } from './part.ts';

interface Contender {
  readonly name: string;
  readonly bundle: string;
}

/** What loading each bundle takes in a fresh process: the part of a cold start that is the function's own. */
export async function measureCold({
  bundles,
  quick,
  report,
}: PartInput): Promise<readonly Section[]> {
  const hello: Contender = { name: 'hello world, ESM', bundle: bundles.hello };
  const ours = benchedIds.map((id) => ({
    name: id,
    bundle: join(dirname(bundles.ours[id]), 'function.cjs'),
  }));
  const peers = benchedIds.map((id) => ({ name: `peer's ${id}`, bundle: bundles.peer[id] }));
  const floor = { name: 'floor: https and crypto', bundle: bundles.floor.builtins };
  const rounds = quick ? 9 : 31;
  report(`cold: loading ten bundles, ${rounds} times each`);
  const samples = await interleave([...ours, ...peers, hello, floor], rounds, ({ bundle }) =>
    loadOnce(bundles.loadProcess, bundle),
  );

  const references = samples.get(hello) ?? [];
  const measured = [...samples].map(([{ name, bundle }, loads]) => ({
    name,
    wall: summarize(loads.map(({ milliseconds }) => milliseconds)),
    cpu: summarize(loads.map(({ cpuMilliseconds }) => cpuMilliseconds)),
    wallRatio: summarize(toRatios(loads, references, ({ milliseconds }) => milliseconds)).median,
    cpuRatio: summarize(toRatios(loads, references, ({ cpuMilliseconds }) => cpuMilliseconds))
      .median,
    bytes: statSync(bundle).size,
    builtins: loads[0]?.builtins ?? [],
  }));
  const isOurs = ({ name }: { name: string }) => ours.some((contender) => contender.name === name);
  const section: Section = {
    title: 'Cold: loading a function in a fresh process',
    columns: [
      { name: 'bundle' },
      { name: 'load ms', digits: 1 },
      { name: '÷ hello', digits: 2 },
      { name: 'CPU ms', digits: 1 },
      { name: '÷ hello', digits: 2 },
      { name: 'KB' },
      { name: 'built-ins' },
      { name: 'of them public' },
    ],
    rows: measured.map(({ name, wall, wallRatio, cpu, cpuRatio, bytes, builtins }) => [
      name,
      wall,
      wallRatio,
      cpu,
      cpuRatio,
      bytes / 1_000,
      builtins.length,
      builtins.filter((builtin) => builtinModules.includes(builtin)).length,
    ]),
    goals: measured.filter(isOurs).flatMap(({ name, wallRatio, cpuRatio }) => [
      { name: `the load time of ${name} ÷ hello world`, value: wallRatio, atMost: 0.4 },
      { name: `the CPU of loading ${name} ÷ hello world`, value: cpuRatio, atMost: 0.4 },
    ]),
    notes: [
      `Medians of ${rounds} processes each, taken in turns; in brackets the middle half of them.`,
      'The ratios are medians too, of the two loads of each round.',
      'Hello world creates a DynamoDBDocumentClient and is bundled with the defaults of esbuild, as the peer is.',
      'Loaded is the bundle, without the warm-up that a cold start then awaits: `first` has both.',
      "Built-ins are the modules of Node's own that the bundle adds to those of a bare process.",
    ],
  };
  return [section];
}

/** Each load against the reference's of the same round, which met the machine in the same mood. */
export function toRatios(
  loads: readonly LoadSample[],
  references: readonly LoadSample[],
  toTime: (sample: LoadSample) => number,
): number[] {
  return loads.map((load, round) => {
    const reference = references[round];
    return reference ? toTime(load) / toTime(reference) : Number.NaN;
  });
}

/** Loads a bundle in a process of its own. */
export async function loadOnce(loadProcess: string, bundle: string): Promise<LoadSample> {
  const environment = toFunctionEnvironment('http://127.0.0.1:1');
  const child = await startChild<LoadSample>(loadProcess, [bundle], { environment });
  await child.end();
  return child.first;
}
