import { log } from '../../../infra/cli/output.ts';
import { benchedIds } from '../buildBundles.ts';
import { type PartInput, toEvent } from '../functionHost.ts';
import { type Cell, type Goal, interleave, type Section, summarize } from '../report.ts';

/** The functions' memory in megabytes, for which cold starts are reported. */
const MEMORY = 512;
/** Megabytes that buy one whole processor. https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html */
const WHOLE_PROCESSOR = 1_769;

const contenders = ['ours', 'peer', 'signed'] as const;

/** What a client notices of a cold start: INIT and the first request of a fresh process, over TLS. */
export async function measureFirst({ host, bundles, quick }: PartInput): Promise<Section> {
  await host.setEntries(50);
  const times = quick ? 9 : 55;
  const rows: Cell[][] = [];
  const goals: Goal[] = [];
  const coldRatios: number[] = [];
  for (const id of benchedIds) {
    log(`first: ${id}, ${times} processes of each contender …`);
    const event = toEvent(id, host.apiKey);
    const samples = await interleave(contenders, times, async (name) => {
      const { loaded, result } = await host.runOnce(bundles[name][id], event, true);
      const [init, first] = [loaded.cpuMilliseconds, result.cpuMilliseconds];
      // On Lambda, if it waits for nothing: Lambda loads a function on a whole processor, and runs a request on the
      // share that the function's memory buys.
      // https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html
      return { init, first, cpu: init + first, cold: init + first / (MEMORY / WHOLE_PROCESSOR) };
    });
    const toTimes = (name: (typeof contenders)[number]) => {
      const all = samples.get(name) ?? [];
      const of = (key: keyof (typeof all)[number]) => summarize(all.map((start) => start[key]));
      return { init: of('init'), first: of('first'), cpu: of('cpu'), cold: of('cold') };
    };
    const [peer, signed] = [toTimes('peer'), toTimes('signed')];
    for (const name of contenders) {
      const { init, first, cpu, cold } = toTimes(name);
      const cpuRatio = cpu.median / peer.cpu.median;
      const coldRatio = cold.median / signed.cold.median;
      rows.push([id, name, init, first, cpuRatio, cold, coldRatio]);
      if (name !== 'ours') continue;
      coldRatios.push(coldRatio);
      goals.push({ name: `the CPU of ${id} ÷ the peer`, value: cpuRatio, atMost: 0.7 });
    }
  }
  const mean = coldRatios.reduce((sum, ratio) => sum + ratio, 0) / coldRatios.length;
  goals.push({ name: 'the mean cold time ÷ signed by hand', value: mean, atMost: 1.2 });
  return {
    title: `First: a cold start's INIT and first request, in milliseconds, at ${MEMORY} MB`,
    columns: [
      ...['operation', 'contender'],
      ['INIT CPU', 1],
      ['request CPU', 1],
      ['CPU ÷ peer', 2],
      ['cold time', 1],
      ['÷ signed by hand', 2],
    ],
    rows,
    goals,
    notes: [
      `Medians of ${times} fresh processes each, taken in turns; brackets show the middle half.`,
      'Cold time is the CPU of INIT on a whole processor, plus the CPU of the first request on the share of one',
      `that ${MEMORY} MB buy (MB ÷ 1,769), as on Lambda.`,
      'DynamoDB is a process on this machine, over TLS. A request makes two calls, one for the key and its own;',
      'that of adjustInventory makes two of its own.',
    ],
  };
}
