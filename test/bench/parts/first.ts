import { log } from '../../../infra/cli/output.ts';
import { benchedIds } from '../buildBundles.ts';
import { type PartInput, toEvent } from '../functionHost.ts';
import { type Cell, type Goal, interleave, type Section, summarize } from '../report.ts';

/** The functions' memory in megabytes, for which cold starts are reported. */
const MEMORY = 512;
/** Megabytes that buy one whole processor. https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html */
const WHOLE_PROCESSOR = 1_769;

const contenders = ['ours', 'peer', 'signed'] as const;
type Contender = (typeof contenders)[number];

/** Milliseconds. */
interface Start {
  /** The CPU of INIT, of the first request, and of both. */
  readonly init: number;
  readonly first: number;
  readonly cpu: number;
  /**
   * A cold start on Lambda, if it waits for nothing. Lambda loads a function on a whole processor, and runs a request
   * on the share that the function's memory buys.
   * https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html
   */
  readonly cold: number;
}

type Samples = Map<Contender, Start[]>;

/** What a client notices of a cold start: INIT and the first request of a fresh process, over TLS. */
export async function measureFirst({ host, bundles, quick }: PartInput): Promise<Section> {
  await host.setEntries(50);
  const [runs, times] = quick ? [3, 3] : [5, 11];
  const all = benchedIds.map((operationId) => {
    const samples: Samples = new Map(contenders.map((contender) => [contender, []]));
    return { operationId, samples };
  });
  /** Our cold time ÷ signed by hand: the mean of all operations in each run. */
  const means: number[] = [];
  for (let run = 1; run <= runs; run += 1) {
    log(`first: run ${run} of ${runs}, ${times} processes of each contender and operation …`);
    const ratios: number[] = [];
    for (const { operationId, samples } of all) {
      const event = toEvent(operationId, host.apiKey);
      const taken = await interleave(contenders, times, async (name): Promise<Start> => {
        const { loaded, result } = await host.runOnce(bundles[name][operationId], event, true);
        const [init, first] = [loaded.cpuMilliseconds, result.cpuMilliseconds];
        const cold = init + first / (MEMORY / WHOLE_PROCESSOR);
        return { init, first, cpu: init + first, cold };
      });
      for (const [contender, starts] of taken) samples.get(contender)?.push(...starts);
      ratios.push(toRatio(taken, 'ours', 'signed', 'cold'));
    }
    means.push(toMean(ratios));
  }
  const reference = `÷ signed by hand, the mean of all operations in ${runs} runs`;
  const goals: Goal[] = [{ name: `the cold time ${reference}`, value: toMean(means), atMost: 1.2 }];
  const rows: Cell[][] = [];
  for (const { operationId, samples } of all) {
    for (const [name, starts] of samples) {
      const summarizeAll = (key: keyof Start) => summarize(starts.map(({ [key]: time }) => time));
      // Ratios of the medians, which stand in the same row.
      const cpuRatio = toRatio(samples, name, 'peer', 'cpu');
      const coldRatio = toRatio(samples, name, 'signed', 'cold');
      const [init, first, cold] = (['init', 'first', 'cold'] as const).map(summarizeAll);
      rows.push([operationId, name, init, first, cpuRatio, cold, coldRatio]);
      if (name !== 'ours') continue;
      const goal = `the CPU of ${operationId} ÷ the peer`;
      goals.push({ name: goal, value: cpuRatio, atMost: 0.7 });
    }
  }
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
      `The mean of all operations in each run: ${means.map((mean) => mean.toFixed(2)).join(', ')}.`,
      `Medians of ${runs * times} fresh processes each, taken in turns; brackets show the middle half.`,
      'Cold time is the CPU of INIT on a whole processor, plus the CPU of the first request on the share of one',
      `that ${MEMORY} MB buy (MB ÷ 1,769), as on Lambda.`,
      'DynamoDB is a process on this machine, over TLS. A request makes two calls, one for the key and its own;',
      'that of adjustInventory makes two of its own.',
    ],
  };
}

function toMean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function toRatio(samples: Samples, one: Contender, other: Contender, key: keyof Start): number {
  const toMedian = (name: Contender) =>
    summarize((samples.get(name) ?? []).map(({ [key]: time }) => time)).median;
  return toMedian(one) / toMedian(other);
}
