import { toEvent } from '../process/events.ts';
import type { FunctionHost } from '../process/functionHost.ts';
import type { RunResult } from '../process/functionProcess.ts';
import { summarize } from '../report/statistics.ts';
import type { ListContender } from './listContenders.ts';

/** The bytes that one list takes above the idle function, each time in a fresh process. */
export async function measureMemory(
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
