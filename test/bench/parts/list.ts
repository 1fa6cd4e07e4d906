import { type FunctionHost, type PartInput, startFunctionHost, toEvent } from '../functionHost.ts';
import type { RunResult } from '../functionProcess.ts';
import { type Goal, interleave, type Section, type Summary, summarize } from '../report.ts';

/** How often each length is listed: the shorter, the more the noise. */
const rounds: readonly [entries: number, full: number, quick: number][] = [
  [1_000, 31, 11],
  [10_000, 21, 7],
  [100_000, 9, 5],
  [1_000_000, 3, 0],
];

/** A list of which the memory alone is measured, to see whether it is flat. */
const MEMORY_ENTRIES = 3_000_000;

/** What listing the inventory takes of a warm function's CPU and of its memory, by length. */
export async function measureList(input: PartInput): Promise<readonly Section[]> {
  const host = await startFunctionHost(input);
  const figures: Row[] = [];
  try {
    for (const [entries, full, quick] of rounds) {
      const times = input.quick ? quick : full;
      if (times === 0) continue;
      input.report(`list: ${entries} entries`);
      figures.push(...(await measureLength(host, toListContenders(input), entries, times)));
    }
    if (!input.quick) figures.push(...(await measureFlatness(host, input)));
  } finally {
    await host.end();
  }
  return [toSection(figures)];
}

interface Row extends ListFigures {
  readonly entries: number;
  readonly contender: string;
  /** Bytes above an idle process. */
  readonly memory: number | undefined;
  readonly floorCpu: number;
}

async function measureLength(
  host: FunctionHost,
  contenders: readonly ListContender[],
  entries: number,
  times: number,
): Promise<Row[]> {
  await host.setEntries(entries);
  const speed = await measureSpeed(host, contenders, times);
  const floorCpu = speed.get('floor')?.cpu?.median ?? 0;
  const rows: Row[] = [];
  for (const contender of contenders) {
    const figures = speed.get(contender.name) ?? {};
    const memory = figures.failure ? undefined : await measureMemory(host, contender, times);
    rows.push({ entries, contender: contender.name, floorCpu, memory, ...figures });
  }
  return rows;
}

async function measureFlatness(host: FunctionHost, input: PartInput): Promise<Row[]> {
  input.report(`list: the memory of ${MEMORY_ENTRIES} entries`);
  await host.setEntries(MEMORY_ENTRIES);
  const rows: Row[] = [];
  for (const contender of toListContenders(input)) {
    if (!isOurs(contender.name)) continue;
    const memory = await measureMemory(host, contender, 3);
    rows.push({ entries: MEMORY_ENTRIES, contender: contender.name, memory, floorCpu: 0 });
  }
  return rows;
}

function isOurs(contender: string): boolean {
  return contender.startsWith('ours');
}

/** What compressing adds to the plain list, and what it leaves of it. */
function toZstdGoals(rows: readonly Row[]): Goal[] {
  const [plain, gzip, zstd] = ['ours', 'ours, gzip', 'ours, zstd'].map((name) =>
    rows.find(({ contender }) => contender === name),
  );
  const toAdded = (row?: Row) => (row?.cpu?.median ?? Number.NaN) - (plain?.cpu?.median ?? 0);
  return [
    {
      name: 'the CPU of compressing 100,000 entries by zstd ÷ gzip',
      value: toAdded(zstd) / toAdded(gzip),
      atMost: 0.3,
    },
    {
      name: 'the bytes of 100,000 entries by zstd ÷ gzip',
      value: (zstd?.bytes ?? Number.NaN) / (gzip?.bytes ?? Number.NaN),
      atMost: 1,
    },
  ];
}

function toMemoryGoals(rows: readonly Row[]): Goal[] {
  return rows.flatMap(({ contender, entries, memory }) => {
    if (entries !== MEMORY_ENTRIES || memory === undefined) return [];
    const isShorter = (row: Row) => row.contender === contender && row.entries === 1_000_000;
    return [
      {
        name: `the memory of 3,000,000 entries ÷ that of 1,000,000, ${contender},`,
        value: memory / (rows.find(isShorter)?.memory ?? Number.NaN),
        atMost: 1.2,
      },
      {
        name: `the memory of 3,000,000 entries above idle, in MB, ${contender},`,
        value: memory / 1_000_000,
        atMost: 96,
      },
    ];
  });
}

function toSection(rows: readonly Row[]): Section {
  const toRatio = ({ cpu, floorCpu }: Row) => cpu && cpu.median / floorCpu;
  const find = (entries: number) =>
    rows.filter((row) => row.entries === entries && isOurs(row.contender));
  return {
    title: 'List: one whole inventory, from event to the last byte',
    columns: [
      { name: 'entries' },
      { name: 'function' },
      { name: 'CPU ms', digits: 1 },
      { name: '÷ floor', digits: 2 },
      { name: 'wall ms', digits: 1 },
      { name: 'memory MB', digits: 1 },
      { name: 'KB sent' },
    ],
    rows: rows.map((row) => [
      row.entries,
      row.contender,
      row.cpu,
      toRatio(row),
      row.wall,
      row.memory === undefined ? undefined : row.memory / 1_000_000,
      row.bytes === undefined ? undefined : row.bytes / 1_000,
    ]),
    goals: [
      ...find(100_000)
        .filter(({ contender }) => contender === 'ours')
        .map((row) => ({
          name: 'the CPU of 100,000 entries ÷ the floor',
          value: toRatio(row) ?? Number.NaN,
          atMost: 1.05,
        })),
      ...toZstdGoals(find(100_000)),
      ...toMemoryGoals(rows),
    ],
    notes: [
      'CPU is of the function process alone and of all its threads. Medians of warm runs in turns; in brackets the middle half.',
      'Memory is the most that a fresh process ever had above what it had when the function was loaded.',
      'The peer answers in one piece, which Lambda refuses past 6 MB; here it may.',
      ...rows.flatMap(({ entries, contender, failure }) =>
        failure === undefined ? [] : [`${contender} failed at ${entries} entries: ${failure}`],
      ),
    ],
  };
}

/** One way to list the inventory. */
interface ListContender {
  readonly name: string;
  readonly bundle: string;
  /** What the client sends besides its key. */
  readonly headers: Record<string, string>;
  readonly query?: string;
}

function toListContenders({ bundles }: Pick<PartInput, 'bundles'>): ListContender[] {
  const gzip = { 'Accept-Encoding': 'gzip' };
  const zstd = { 'Accept-Encoding': 'zstd' };
  return [
    { name: 'ours', bundle: bundles.ours.listInventory, headers: {} },
    { name: 'ours, gzip', bundle: bundles.ours.listInventory, headers: gzip },
    { name: 'ours, zstd', bundle: bundles.ours.listInventory, headers: zstd },
    {
      name: 'ours, include=etag',
      bundle: bundles.ours.listInventory,
      headers: {},
      query: 'include=etag',
    },
    { name: 'peer', bundle: bundles.peer.listInventory, headers: {} },
    { name: 'floor', bundle: bundles.floor, headers: {} },
  ];
}

/** Times in milliseconds; all is absent where the function failed. */
interface ListFigures {
  readonly cpu?: Summary;
  readonly wall?: Summary;
  /** The body's length as it was sent. */
  readonly bytes?: number;
  readonly failure?: string;
}

/** Lists the inventory so many times in a process that did it before, for each contender by name. */
async function measureSpeed(
  host: FunctionHost,
  contenders: readonly ListContender[],
  times: number,
): Promise<Map<string, ListFigures>> {
  const functions = await Promise.all(
    contenders.map(async ({ name, bundle, headers, query }) => ({
      name,
      child: await host.startFunction(bundle, `list-${name}`),
      run: { event: toEvent('listInventory', host.apiKey, headers, query), times: 1 },
    })),
  );
  const runOnce = async ({ child, run }: (typeof functions)[number]) =>
    child.ask<RunResult>(run).catch((error: Error) => error);

  await interleave(functions, Math.min(times, 3), runOnce);
  const samples = await interleave(functions, times, runOnce);
  await Promise.all(functions.map(({ child }) => child.end()));
  return new Map([...samples].map(([{ name }, results]) => [name, toFigures(results)]));
}

function toFigures(results: readonly (RunResult | Error)[]): ListFigures {
  const failure = results.find((result) => result instanceof Error);
  if (failure) return { failure: failure.message };
  const runs = results as readonly RunResult[];
  return {
    cpu: summarize(runs.map(({ cpuMilliseconds }) => cpuMilliseconds)),
    wall: summarize(runs.map(({ milliseconds }) => milliseconds)),
    bytes: runs[0]?.bytes ?? 0,
  };
}

/** The bytes that one list takes above the idle function, each time in a fresh process. */
async function measureMemory(
  host: FunctionHost,
  { name, bundle, headers, query }: ListContender,
  times: number,
): Promise<number> {
  const samples: number[] = [];
  for (let time = 0; time < Math.min(times, 5); time += 1) {
    const child = await host.startFunction(bundle, `memory-${name}`);
    const event = toEvent('listInventory', host.apiKey, headers, query);
    const { peakMemory } = await child.ask<RunResult>({ event, times: 1 });
    samples.push(peakMemory - child.first.idleMemory);
    await child.end();
  }
  return summarize(samples).median;
}
