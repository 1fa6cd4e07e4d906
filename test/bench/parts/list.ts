import { log } from '../../../infra/cli/output.ts';
import {
  type Contender,
  type FunctionHost,
  measureInTurns,
  type PartInput,
  toEvent,
} from '../functionHost.ts';
import { type Goal, type Section, type Summary, summarize } from '../report.ts';

/** How often each length is measured: shorter lists are noisier. */
const lengths: readonly [entries: number, full: number, quick: number][] = [
  [1_000, 31, 11],
  [10_000, 31, 7],
  [100_000, 31, 5],
  [1_000_000, 5, 0],
];

/** One measurement lists at least so many entries: short lists several times. */
const SAMPLE_ENTRIES = 20_000;

/** For this length only memory is measured, to see whether it is flat. */
const MEMORY_ENTRIES = 3_000_000;

interface Row {
  readonly entries: number;
  readonly contender: string;
  /** Megabytes above an idle process. */
  readonly memory: number;
  /** Milliseconds. */
  readonly cpu?: Summary;
  readonly bytes?: number;
  /** CPU ÷ the floor's CPU. */
  readonly ratio?: number;
}

export async function measureList({ host, bundles, quick }: PartInput): Promise<Section> {
  const { ours, peer, floor } = bundles;
  const toContender = (bundle: string, headers = {}, query = '') => {
    return { bundle, event: toEvent('listInventory', host.apiKey, headers, query) };
  };
  const bundle = ours.listInventory;
  const ourContenders = {
    ours: toContender(bundle),
    'ours, gzip': toContender(bundle, { 'Accept-Encoding': 'gzip' }),
    'ours, zstd': toContender(bundle, { 'Accept-Encoding': 'zstd' }),
    'ours, include=etag': toContender(bundle, {}, 'include=etag'),
  };
  const all = {
    ...ourContenders,
    peer: toContender(peer.listInventory),
    floor: toContender(floor),
  };
  const rows: Row[] = [];
  for (const [entries, full, few] of lengths) {
    const rounds = quick ? few : full;
    if (rounds === 0) continue;
    log(`list: ${entries} entries …`);
    await host.setEntries(entries);
    const times = Math.ceil(SAMPLE_ENTRIES / entries);
    const settling = Math.min(rounds, times > 1 ? 15 : 3);
    const measured = await measureInTurns(host, all, { times, rounds, settling });
    for (const [contender, { cpu, bytes }] of Object.entries(measured)) {
      const memory = await measureMemory(host, all[contender as keyof typeof all], rounds);
      const ratio = cpu.median / measured.floor.cpu.median;
      rows.push({ entries, contender, memory, cpu, ratio, bytes });
    }
  }
  if (!quick) {
    log(`list: the memory of ${MEMORY_ENTRIES} entries …`);
    await host.setEntries(MEMORY_ENTRIES);
    for (const [contender, own] of Object.entries(ourContenders)) {
      const memory = await measureMemory(host, own, 5);
      rows.push({ entries: MEMORY_ENTRIES, contender, memory });
    }
  }
  return {
    title: 'List: one whole inventory, from event to the last byte',
    columns: ['entries', 'function', ['CPU ms', 1], ['÷ floor', 2], ['memory MB', 1], 'KB sent'],
    rows: rows.map(({ entries, contender, cpu, ratio, memory, bytes }) => {
      return [entries, contender, cpu, ratio, memory, bytes && bytes / 1_000];
    }),
    goals: toGoals(rows),
    notes: [
      'CPU counts all threads of the function process. Medians of warm runs in turns; brackets show the middle half.',
      'Memory is the peak of a fresh process above its memory when the function was loaded.',
      'The peer buffers its response, which Lambda refuses past 6 MB; here it may.',
    ],
  };
}

/** The megabytes above the idle function that one list takes, each time in a fresh process. */
async function measureMemory(
  host: FunctionHost,
  { bundle, event }: Contender,
  times: number,
): Promise<number> {
  const samples: number[] = [];
  for (let time = 0; time < Math.min(times, 5); time += 1) {
    const { loaded, result } = await host.runOnce(bundle, event);
    samples.push((result.peakMemory - loaded.idleMemory) / 1_000_000);
  }
  return summarize(samples).median;
}

function toGoals(rows: readonly Row[]): Goal[] {
  const find = (entries: number, contender: string) =>
    rows.find((row) => row.entries === entries && row.contender === contender);
  const toRatio = (entries: number, contender = 'ours') => find(entries, contender)?.ratio ?? NaN;
  const toCpu = (contender: string) => find(100_000, contender)?.cpu?.median ?? NaN;
  const toBytes = (contender: string) => find(100_000, contender)?.bytes ?? NaN;
  const [gzip, zstd] = ['ours, gzip', 'ours, zstd'] as const;
  const ofZstd = '100,000 entries by zstd ÷ gzip';
  const added = (toCpu(zstd) - toCpu('ours')) / (toCpu(gzip) - toCpu('ours'));
  const tagged = toRatio(100_000, 'ours, include=etag');
  const goals: Goal[] = [
    { name: 'the CPU of 1,000 entries ÷ the floor', value: toRatio(1_000), atMost: 1.3 },
    { name: 'the CPU of 100,000 entries ÷ the floor', value: toRatio(100_000), atMost: 0.8 },
    { name: 'the CPU of 100,000 entries with tags ÷ the floor', value: tagged, atMost: 0.8 },
    { name: `the CPU of compressing ${ofZstd}`, value: added, atMost: 0.3 },
    { name: `the bytes of ${ofZstd}`, value: toBytes(zstd) / toBytes(gzip), atMost: 1 },
  ];
  for (const { contender, entries, memory } of rows) {
    if (entries !== MEMORY_ENTRIES) continue;
    const value = memory / (find(1_000_000, contender)?.memory ?? NaN);
    const name = 'the memory of 3,000,000 entries';
    goals.push({ name: `${name} ÷ that of 1,000,000, ${contender},`, value, atMost: 1.2 });
    goals.push({ name: `${name} above idle, in MB, ${contender},`, value: memory, atMost: 96 });
  }
  return goals;
}
