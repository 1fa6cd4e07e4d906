import { log } from '../../../infra/cli/output.ts';
import { measureInTurns, type PartInput, toEvent } from '../functionHost.ts';
import { type Cell, type Goal, type Section, summarize } from '../report.ts';

const ENTRIES = 100_000;

/** So many that a list held in memory would break the goal, which allows for what V8 has not collected yet. */
const MEMORY_ENTRIES = 1_000_000;

export async function measureList({ host, bundles, quick }: PartInput): Promise<Section> {
  const toContender = (bundle: string, headers = {}, query = '') => {
    return { bundle, event: toEvent('listInventory', host.apiKey, headers, query) };
  };
  const { listInventory: bundle } = bundles.ours;
  const ours = {
    ours: toContender(bundle),
    'ours, gzip': toContender(bundle, { 'Accept-Encoding': 'gzip' }),
    'ours, zstd': toContender(bundle, { 'Accept-Encoding': 'zstd' }),
    'ours, include=etag': toContender(bundle, {}, 'include=etag'),
  };
  const others = {
    peer: toContender(bundles.peer.listInventory),
    floor: toContender(bundles.floor),
  };
  log(`list: ${ENTRIES} entries …`);
  await host.setEntries(ENTRIES);
  const runs = { times: 1, rounds: quick ? 5 : 31, settling: 3 };
  const measured = await measureInTurns(host, { ...ours, ...others }, runs);
  const floor = measured.floor.cpu.median;

  log(`list: the memory of ${MEMORY_ENTRIES} entries …`);
  await host.setEntries(MEMORY_ENTRIES);
  const goals: Goal[] = ['ours', 'ours, include=etag'].map((name) => {
    const value = measured[name as keyof typeof ours].cpu.median / floor;
    return { name: `the CPU of 100,000 entries ÷ the floor, ${name},`, value, atMost: 0.8 };
  });
  const memory = new Map<string, number>();
  for (const [name, { bundle, event }] of Object.entries(ours)) {
    const samples: number[] = [];
    for (let time = 0; time < (quick ? 1 : 5); time += 1) {
      const { loaded, result } = await host.runOnce(bundle, event);
      samples.push((result.peakMemory - loaded.idleMemory) / 1_000_000);
    }
    const { median: value } = summarize(samples);
    memory.set(name, value);
    goals.push({ name: `the MB of 1,000,000 entries, ${name},`, value, atMost: 96 });
  }
  return {
    title: 'List: 100,000 entries, from event to the last byte, and the memory of 1,000,000',
    columns: ['function', ['CPU ms', 1], ['÷ floor', 2], 'KB sent', ['memory MB', 1]],
    rows: Object.entries(measured).map(([name, { cpu, bytes }]): Cell[] => {
      return [name, cpu, cpu.median / floor, bytes / 1_000, memory.get(name)];
    }),
    goals,
    notes: [
      'CPU counts all threads of the function process. Medians of warm runs in turns; brackets show the middle half.',
      'Memory is the peak of a fresh process above its memory when the function was loaded.',
      'The peer buffers its response, which Lambda refuses past 6 MB; here it may.',
    ],
  };
}
