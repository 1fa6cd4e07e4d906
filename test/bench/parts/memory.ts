import { defaultPrices } from '../../../infra/costs/prices.ts';
import { stages } from '../../../infra/stages/stages.ts';
import type { BenchedId } from '../buildBundles.ts';
import { type FunctionHost, toEvent } from '../functionHost.ts';
import type { RunResult } from '../functionProcess.ts';
import { type Section, summarize } from '../report.ts';

/** Megabytes. 1,769 buy a whole processor, and more of them nothing for code that runs on one. */
const memories = [256, 384, 512, 768, 1_024, 1_769] as const;

/** Milliseconds that a call of DynamoDB is waited for, as `infra/costs/units/answerUnits.ts` has it. */
const CALL = 5;

/** The CPU milliseconds of one of our functions. */
export interface FunctionCpu {
  readonly operationId: BenchedId;
  readonly init: number;
  readonly first: number;
  readonly warm: number;
}

/** The CPU of one request of a function that is warm, over TLS. */
export async function measureWarmCpu(
  host: FunctionHost,
  bundle: string,
  operationId: BenchedId,
): Promise<number> {
  const event = toEvent(operationId, host.apiKey);
  const child = await host.startSecureFunction(bundle, `warm-${operationId}`);
  await child.ask({ event, times: 500 });
  const samples: number[] = [];
  for (let round = 0; round < 31; round += 1) {
    const { cpuMilliseconds } = await child.ask<RunResult>({ event, times: 20 });
    samples.push(cpuMilliseconds / 20);
  }
  await child.end();
  return summarize(samples).median;
}

/** What each memory size makes of the same CPU, in time and in dollars. */
export function toMemorySection(functions: readonly FunctionCpu[]): Section {
  const { lambdaPerGigabyteSecond, lambdaPerMillionRequests } = defaultPrices;
  // For a million times a millisecond.
  const perMegabyte = (lambdaPerGigabyteSecond * 1_000) / 1_024;
  return {
    title: 'Memory: what it buys, by the same CPU',
    columns: [
      { name: 'operation' },
      { name: 'MB' },
      { name: 'cold ms' },
      { name: 'warm ms', digits: 1 },
      { name: '$ per million, warm', digits: 2 },
      { name: '$ per million, cold', digits: 2 },
    ],
    rows: functions.flatMap(({ operationId, init, first, warm }) =>
      memories.map((megabytes) => {
        // A first request looks up its key too.
        const cold = toColdMilliseconds(init, first, megabytes) + 4 * CALL;
        const usual = toWarmMilliseconds(warm, megabytes) + CALL;
        const toDollars = (milliseconds: number) =>
          lambdaPerMillionRequests + Math.ceil(milliseconds) * megabytes * perMegabyte;
        const isUsed = stages.production.settings.memoryMegabytes[operationId] === megabytes;
        return [
          `${operationId}${isUsed ? ' *' : ''}`,
          megabytes,
          cold,
          usual,
          toDollars(usual),
          toDollars(cold),
        ];
      }),
    ),
    goals: [],
    notes: [
      `By the model of the table above, with ${CALL} ms for each call of DynamoDB, four of them in a cold start.`,
      'Dollars are of Lambda alone: a request, and what it takes; * is what production has.',
    ],
  };
}

/** Megabytes that buy one whole processor. https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html */
const WHOLE_PROCESSOR = 1_769;

/**
 * How long Lambda takes over a cold start that waits for nothing. A function on demand has a whole processor
 * while it is loaded, and from then on the share that its memory buys.
 * https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html
 * @param init CPU milliseconds of loading it
 * @param request CPU milliseconds of its first request
 */
export function toColdMilliseconds(init: number, request: number, megabytes: number): number {
  return init + toWarmMilliseconds(request, megabytes);
}

/** How long Lambda takes over a request that waits for nothing, by its CPU milliseconds. */
export function toWarmMilliseconds(request: number, megabytes: number): number {
  return request / Math.min(1, megabytes / WHOLE_PROCESSOR);
}
