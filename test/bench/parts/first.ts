import { type BenchedId, benchedIds } from '../buildBundles.ts';
import { type FunctionHost, type PartInput, startFunctionHost, toEvent } from '../functionHost.ts';
import type { RunResult } from '../functionProcess.ts';
import { type Goal, interleave, type Section, type Summary, summarize } from '../report.ts';

/** Megabytes: what the functions have, so what a cold start is told for. */
const MEMORY = 512;

const contenderNames = ['ours', 'minifiedPeer', 'peer'] as const;
type ContenderName = (typeof contenderNames)[number];

const titles: Record<ContenderName, string> = {
  ours: 'ours',
  minifiedPeer: 'peer, minified',
  peer: 'peer',
};

/** What a client feels of a cold start: INIT and the first request of a fresh process, over TLS. */
export async function measureFirst(input: PartInput): Promise<readonly Section[]> {
  const host = await startFunctionHost(input);
  try {
    const figures = [];
    for (const operationId of benchedIds) {
      figures.push(...(await measureOperation(host, input, operationId)));
    }
    return [toSection(figures, input.quick ? 9 : 31)];
  } finally {
    await host.end();
  }
}

/** In milliseconds. The ratios are to the minified peer. */
interface Figures {
  readonly operationId: BenchedId;
  readonly name: ContenderName;
  readonly init: Summary;
  readonly first: Summary;
  readonly cold: Summary;
  readonly coldRatio: number;
  readonly cpuRatio: number;
  readonly waited: Summary;
}

/** In milliseconds. */
interface Start {
  /** CPU of INIT and of the first request. */
  readonly init: number;
  readonly first: number;
  /** Time of both together past their CPU. */
  readonly waited: number;
}

async function measureOperation(
  host: FunctionHost,
  { bundles, quick, report }: PartInput,
  operationId: BenchedId,
): Promise<Figures[]> {
  const rounds = quick ? 9 : 31;
  report(`first: ${operationId}, ${rounds} processes of each contender`);
  const samples = await interleave(contenderNames, rounds, (name) =>
    startOnce(host, bundles[name][operationId], `first-${operationId}-${name}`, operationId),
  );
  const references = samples.get('minifiedPeer') ?? [];
  return [...samples].map(([name, starts]) => ({
    operationId,
    name,
    init: summarize(starts.map(({ init }) => init)),
    first: summarize(starts.map(({ first }) => first)),
    cold: summarize(starts.map((start) => toCold(start))),
    coldRatio: toRatio(starts, references, (start) => toCold(start)),
    cpuRatio: toRatio(starts, references, ({ init, first }) => init + first),
    waited: summarize(starts.map(({ waited }) => waited)),
  }));
}

/**
 * Starts a function in a process of its own, over TLS, for one request.
 * @param name what its CPU profile is called, if one is wanted
 */
async function startOnce(
  host: FunctionHost,
  bundle: string,
  name: string,
  operationId: BenchedId,
): Promise<Start> {
  const event = toEvent(operationId, host.apiKey);
  const child = await host.startSecureFunction(bundle, name);
  const request = await child.ask<RunResult>({ event, times: 1 });
  await child.end();
  const { milliseconds, cpuMilliseconds } = child.first;
  return {
    init: cpuMilliseconds,
    first: request.cpuMilliseconds,
    waited: milliseconds + request.milliseconds - cpuMilliseconds - request.cpuMilliseconds,
  };
}

/** Megabytes that buy one whole processor. https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html */
const WHOLE_PROCESSOR = 1_769;

/**
 * The milliseconds that Lambda takes over a cold start that waits for nothing. It loads a function on a whole
 * processor, and runs a request on the share that the function's memory buys.
 * https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html
 */
export function toCold({ init, first }: Pick<Start, 'init' | 'first'>, megabytes = MEMORY): number {
  return init + first / Math.min(1, megabytes / WHOLE_PROCESSOR);
}

/** Of the medians, as they stand side by side. */
function toRatio(
  starts: readonly Start[],
  references: readonly Start[],
  toTime: (start: Start) => number,
): number {
  return summarize(starts.map(toTime)).median / summarize(references.map(toTime)).median;
}

function toSection(figures: readonly Figures[], rounds: number): Section {
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
      { name: 'waiting', digits: 1 },
    ],
    rows: figures.map(({ operationId, name, init, first, cpuRatio, cold, coldRatio, waited }) => [
      operationId,
      titles[name],
      init,
      first,
      cpuRatio,
      cold,
      coldRatio,
      waited,
    ]),
    goals: figures.filter(({ name }) => name === 'ours').flatMap(toGoals),
    notes: [
      `Medians of ${rounds} fresh processes each, taken in turns; in brackets the middle half of them.`,
      'Cold time is the CPU of INIT, which Lambda runs on a whole processor, and that of the first request on the',
      `share of one that ${MEMORY} MB buy (MB ÷ 1,769). Waiting is what both took besides, on this machine.`,
      'DynamoDB is a process on this machine that speaks TLS. A request makes two calls: the key, and its own.',
    ],
  };
}

function toGoals({ operationId, coldRatio, cpuRatio }: Figures): Goal[] {
  const atMost = operationId === 'updateInventory' ? 0.4 : 0.45;
  return [
    { name: `the cold time of ${operationId} ÷ the minified peer`, value: coldRatio, atMost },
    { name: `the CPU of ${operationId} ÷ the minified peer`, value: cpuRatio, atMost: 0.7 },
  ];
}
