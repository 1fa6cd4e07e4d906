import { toEvent } from '../process/events.ts';
import type { FunctionHost } from '../process/functionHost.ts';
import type { RunResult } from '../process/functionProcess.ts';
import { interleave } from '../report/interleave.ts';
import { type Summary, summarize } from '../report/statistics.ts';
import type { ListContender } from './listContenders.ts';

/** Times in milliseconds; all is absent where the function failed. */
export interface ListFigures {
  readonly cpu?: Summary;
  readonly wall?: Summary;
  /** The body's length as it was sent. */
  readonly bytes?: number;
  readonly failure?: string;
}

/** Lists the inventory so many times in a process that did it before, for each contender by name. */
export async function measureSpeed(
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
