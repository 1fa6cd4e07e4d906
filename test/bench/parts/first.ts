import { tell } from '../../../infra/cli/output.ts';
import { benchedIds } from '../buildBundles.ts';
import { type PartInput, toEvent } from '../functionHost.ts';
import type { RunResult } from '../functionProcess.ts';
import { type Cell, type Goal, interleave, type Section, summarize } from '../report.ts';

/** The functions' memory in megabytes, for which cold starts are reported. */
const MEMORY = 512;
/** Megabytes that buy one whole processor. https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html */
const WHOLE_PROCESSOR = 1_769;

const contenders = [
  { name: 'ours', title: 'ours' },
  { name: 'minifiedPeer', title: 'peer, minified' },
  { name: 'peer', title: 'peer' },
  { name: 'signed', title: 'signed by hand' },
] as const;

/** Milliseconds. */
interface Start {
  /** The CPU of INIT and of the first request. */
  readonly init: number;
  readonly first: number;
}

/** What a client notices of a cold start: INIT and the first request of a fresh process, over TLS. */
export async function measureFirst({ host, bundles, quick }: PartInput): Promise<Section> {
  await host.setEntries(50);
  const times = quick ? 9 : 31;
  const rows: Cell[][] = [];
  const goals: Goal[] = [];
  for (const operationId of benchedIds) {
    tell(`first: ${operationId}, ${times} processes of each contender …`);
    const event = toEvent(operationId, host.apiKey);
    const samples = await interleave(contenders, times, async ({ name }): Promise<Start> => {
      const child = await host.startFunction(bundles[name][operationId], true);
      const request = await child.ask<RunResult>({ event, times: 1 });
      await child.end();
      return { init: child.first.cpuMilliseconds, first: request.cpuMilliseconds };
    });
    const toMedian = (starts: readonly Start[], toTime: (start: Start) => number) =>
      summarize(starts.map(toTime)).median;
    const minified = samples.get(contenders[1]) ?? [];
    const signed = samples.get(contenders[3]) ?? [];
    for (const [{ name, title }, starts] of samples) {
      // Ratios of the medians, which stand in the same row.
      const [cpuRatio = 0, coldRatio = 0] = [toCpu, toCold].map(
        (toTime) => toMedian(starts, toTime) / toMedian(minified, toTime),
      );
      const [init, first, cold] = [
        ({ init }: Start) => init,
        ({ first }: Start) => first,
        toCold,
      ].map((toTime) => summarize(starts.map(toTime)));
      const value = toMedian(starts, toCold) / toMedian(signed, toCold);
      rows.push([operationId, title, init, first, cpuRatio, cold, coldRatio, value]);
      if (name !== 'ours') continue;
      goals.push({ name: `the cold time of ${operationId} ÷ signed by hand`, value, atMost: 1.2 });
      const reference = `the CPU of ${operationId} ÷ the minified peer`;
      goals.push({ name: reference, value: cpuRatio, atMost: 0.7 });
    }
  }
  return {
    title: `First: a cold start's INIT and first request, in milliseconds, at ${MEMORY} MB`,
    columns: [
      { name: 'operation' },
      { name: 'contender' },
      { name: 'INIT CPU', digits: 1 },
      { name: 'request CPU', digits: 1 },
      { name: 'CPU ÷ minified', digits: 2 },
      { name: 'cold time', digits: 1 },
      { name: '÷ minified', digits: 2 },
      { name: '÷ signed', digits: 2 },
    ],
    rows,
    goals,
    notes: [
      `Medians of ${times} fresh processes each, taken in turns; brackets show the middle half.`,
      'Cold time is the CPU of INIT on a whole processor, plus the CPU of the first request on the share of one',
      `that ${MEMORY} MB buy (MB ÷ 1,769), as on Lambda.`,
      'DynamoDB is a process on this machine, over TLS. A request makes two calls: one for the key, and its own.',
    ],
  };
}

/**
 * The milliseconds of a cold start on Lambda, if it waits for nothing. Lambda loads a function on a whole processor,
 * and runs a request on the share that the function's memory buys.
 * https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html
 */
function toCold({ init, first }: Start): number {
  return init + first / (MEMORY / WHOLE_PROCESSOR);
}

function toCpu({ init, first }: Start): number {
  return init + first;
}
