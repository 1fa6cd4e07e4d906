import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { BenchedId } from '../bundles/buildFile.ts';
import { buildVariants, type Variant } from '../bundles/buildVariants.ts';
import { toEvent } from '../process/events.ts';
import { type FunctionHost, startFunctionHost } from '../process/functionHost.ts';
import { interleave } from '../report/interleave.ts';
import type { Cell, Section } from '../report/section.ts';
import { type Summary, summarize, toMedianError } from '../report/statistics.ts';
import { loadOnce, toRatios } from './cold.ts';
import { MEMORY, startOnce, toCold } from './first.ts';
import type { PartInput } from './part.ts';

/** One that is buffered and reads a body, and one that is streamed. */
const measuredIds = ['updateInventory', 'listInventory'] as const satisfies BenchedId[];

/** What a replacement has to save to stay: of the load of hello world, in time or in CPU, … */
const LOAD = 0.04;
/** … or in percent of the cold time. */
const COLD = 1;

/** One variant of a bundle, round by round. */
interface Figures {
  readonly variant: Variant;
  /** Of the load, ÷ hello world; nothing where the bundle is the same as with all replacements. */
  readonly time: readonly number[];
  readonly cpu: readonly number[];
  /** Milliseconds of INIT and the first request, as Lambda takes them. */
  readonly cold: readonly number[];
}

/** What each replacement in a bundle is worth: what it costs to go without it. */
export async function measureReplacements(input: PartInput): Promise<readonly Section[]> {
  const host = await startFunctionHost(input);
  try {
    const sections: Section[] = [];
    for (const id of measuredIds)
      sections.push(toSection(id, await measureFunction(host, input, id)));
    return sections;
  } finally {
    await host.end();
  }
}

/** The bundle with all replacements comes first. */
async function measureFunction(
  host: FunctionHost,
  { bundles, quick, report }: PartInput,
  operationId: BenchedId,
): Promise<Figures[]> {
  const rounds = quick ? 9 : 101;
  const folder = join(dirname(bundles.loadProcess), 'variants', operationId);
  const built = await buildVariants(operationId, folder);
  const variants = built.filter((variant) => !isNeedless(variant, built));
  report(`replacements: ${operationId}, ${variants.length} bundles, loaded ${rounds} times each`);
  const hello = { bundle: bundles.hello };
  const loads = await interleave([hello, ...variants], rounds, ({ bundle }) =>
    loadOnce(bundles.loadProcess, bundle),
  );
  report(`replacements: ${operationId}, ${rounds} processes of each`);
  const event = toEvent(operationId, host.apiKey);
  const starts = await interleave(variants, rounds, ({ name, front }) =>
    startOnce(host, front, `replacements-${operationId}-${name}`, event),
  );
  const references = loads.get(hello) ?? [];
  return built.map((variant) => {
    const own = loads.get(variant) ?? [];
    return {
      variant,
      time: toRatios(own, references, ({ milliseconds }) => milliseconds),
      cpu: toRatios(own, references, ({ cpuMilliseconds }) => cpuMilliseconds),
      cold: (starts.get(variant) ?? []).map(toCold),
    };
  });
}

/** Whether the bundle comes out the same without the replacement, since it has nothing of the module. */
function isNeedless({ isJudged, bundle }: Variant, [whole]: readonly Variant[]): boolean {
  return isJudged && whole !== undefined && readFileSync(bundle).equals(readFileSync(whole.bundle));
}

function toSection(operationId: BenchedId, figures: readonly Figures[]): Section {
  const [whole] = figures;
  if (!whole) throw new Error('There is nothing to compare with.');
  return {
    title: `Replacements: ${operationId} without each of them`,
    columns: [
      { name: 'bundle' },
      { name: 'KB' },
      { name: 'load ÷ hello', digits: 2 },
      { name: 'more', digits: 3 },
      { name: 'CPU ÷ hello', digits: 2 },
      { name: 'more', digits: 3 },
      { name: 'cold time', digits: 1 },
      { name: '% more', digits: 1 },
      { name: 'verdict' },
    ],
    rows: figures.map((each) => toRow(each, whole)),
    goals: [],
    notes: [
      `Medians of ${whole.cold.length} fresh processes each, taken in turns; in brackets the middle half of them.`,
      'More is than with all of them in the same round; what the second row has of it is noise.',
      `Cold time is INIT and the first request by the model of \`first\`, in milliseconds at ${MEMORY} MB.`,
      `To keep is what saves more than ${LOAD} of hello world's load, in time or CPU, or ${COLD} % of the cold time,`,
      "by more than its median's standard error; within noise is what may or may not: run it again.",
    ],
  };
}

function toRow({ variant, time, cpu, cold }: Figures, whole: Figures): Cell[] {
  const kilobytes = statSync(variant.bundle).size / 1_000;
  if (time.length === 0) return [variant.name, kilobytes, ...Array(6), 'the same bundle'];
  const moreTime = summarize(time.map((ratio, round) => ratio - at(whole.time, round)));
  const moreCpu = summarize(cpu.map((ratio, round) => ratio - at(whole.cpu, round)));
  const moreCold = summarize(cold.map((own, round) => (own / at(whole.cold, round) - 1) * 100));
  return [
    variant.name,
    kilobytes,
    summarize(time).median,
    moreTime,
    summarize(cpu).median,
    moreCpu,
    summarize(cold).median,
    moreCold,
    variant.isJudged ? toVerdict(moreTime, moreCpu, moreCold) : '',
  ];
}

function toVerdict(time: Summary, cpu: Summary, cold: Summary): string {
  const judged = [
    [time, LOAD],
    [cpu, LOAD],
    [cold, COLD],
  ] as const;
  if (judged.some(([more, limit]) => more.median - toMedianError(more) > limit)) return 'keep';
  return judged.some(([{ median }, limit]) => median > limit) ? 'within noise' : 'not worth it';
}

function at(rounds: readonly number[], round: number): number {
  return rounds[round] ?? Number.NaN;
}
