import autocannon, { type Request } from 'autocannon';
import { type ChildProcess, startChild } from '../../bench/childProcess.ts';
import { type Cell, interleave, type Section, summarize } from '../../bench/report.ts';
import type { StageProcessOptions, Started, Vitals } from '../stageProcess.ts';

export interface Contender {
  readonly name: NonNullable<StageProcessOptions['name']>;
  readonly process: ChildProcess<Started>;
}

export async function startContender(
  name: Contender['name'],
  bundles: StageProcessOptions['bundles'] & {},
  conditions: Conditions = {},
): Promise<Contender> {
  const script = new URL('../stageProcess.ts', import.meta.url).pathname;
  const options: StageProcessOptions = { name, bundles, ...conditions };
  return { name, process: await startChild(script, [JSON.stringify(options)]) };
}

/** What clients meet besides the load. */
export type Conditions = Pick<StageProcessOptions, 'faultInjection' | 'transactionsConflict'>;

/** @param collects whether to collect garbage and measure memory */
export function takeVitals({ process }: Contender, collects: boolean): Promise<Vitals> {
  return process.ask<Vitals>({ collects });
}

/** Requests in flight at once. */
const CONNECTIONS = 10;

type LoadFigures = Awaited<ReturnType<typeof putUnderLoad>>;

/** Sends requests in sequence on each connection, as fast as the responses come. */
export async function putUnderLoad({ process }: Contender, load: LoadName, seconds: number) {
  const { baseUrl, apiKey } = process.first;
  const { requests, latency, duration, errors, non2xx } = await autocannon({
    url: baseUrl,
    connections: CONNECTIONS,
    duration: seconds,
    // The load ends at the end of a sample.
    sampleInt: Math.min(1_000, 500 * seconds),
    requests: loads[load](apiKey),
  });
  return {
    requests: requests.total,
    perSecond: requests.total / duration,
    p50: latency.p50,
    p99: latency.p99,
    /** Requests without a response, or with one other than 2xx. */
    failures: errors + non2xx,
  };
}

/** Ids in `infra/local/sample.json` that have both a pet and an inventory entry. */
const petIds = Array.from({ length: 40 }, (_, index) => index + 1);

/** Loads by name: the requests that each connection repeats. */
const loads = {
  lookups: (apiKey: string) => petIds.map((petId) => toRead(`/pets/${petId}`, apiKey)),
  /** Of ten requests, seven look up a pet, one lists the inventory, one lists the orders, and one is an update. */
  mix: (apiKey: string) =>
    petIds.flatMap((petId) => [
      {
        method: 'PATCH',
        path: `/v1/inventory/${petId}`,
        headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ quantity: petId }),
      },
      ...[1, 6, 11, 16, 21, 26, 31].map((other) =>
        toRead(`/pets/${((petId + other) % petIds.length) + 1}`, apiKey),
      ),
      toRead('/inventory', apiKey),
      toRead('/store/orders', apiKey),
    ]),
} satisfies Record<string, (apiKey: string) => Request[]>;

type LoadName = keyof typeof loads;

function toRead(path: string, apiKey: string): Request {
  return { method: 'GET', path: `/v1${path}`, headers: { Authorization: `Bearer ${apiKey}` } };
}

export interface Outcome {
  readonly section: Section;
  /** Each fails the run. Speed does not, since it also depends on the machine. */
  readonly problems: readonly string[];
}

/** An odd number, so that a median is a measurement. */
const ROUNDS = 15;

interface Turn extends LoadFigures {
  /** The CPU of one request: gateway, functions and engine. */
  readonly cpuMilliseconds: number;
}

/**
 * Puts each contender under the same load in turn, several times.
 * @param maxRatio the most for the last contender's throughput ÷ ours, and for our CPU ÷ its CPU
 */
export async function compare(
  load: LoadName,
  contenders: readonly Contender[],
  seconds: number,
  maxRatio: number,
): Promise<Outcome> {
  const takeTurn = async (contender: Contender): Promise<Turn> => {
    const before = await takeVitals(contender, false);
    const figures = await putUnderLoad(contender, load, seconds);
    const after = await takeVitals(contender, false);
    const spent = after.cpuMilliseconds - before.cpuMilliseconds;
    return { ...figures, cpuMilliseconds: spent / figures.requests };
  };
  // The first turn compiles the code and does not count.
  for (const contender of contenders) await takeTurn(contender);
  const samples = await interleave(contenders, ROUNDS, takeTurn);
  const rows: Cell[][] = [];
  const problems: string[] = [];
  for (const [contender, turns] of samples) {
    const vitals = await takeVitals(contender, true);
    const failures = turns.reduce((sum, turn) => sum + turn.failures, 0);
    problems.push(...findProblems(contender.name, failures, vitals));
    const figures = (['perSecond', 'p50', 'p99', 'cpuMilliseconds'] as const).map((figure) =>
      summarize(turns.map((turn) => turn[figure])),
    );
    rows.push([contender.name, ...figures, failures, vitals.usedBytes / MEGABYTE]);
  }
  const ours = [...samples.values()].at(0) ?? [];
  const last = [...samples.values()].at(-1) ?? [];
  const toGoal = (what: string, toRatio: (our: Turn, its: Turn) => number) => {
    const ratios = ours.map((our, round) => toRatio(our, last[round] ?? our));
    const name = `${what}, the median of the rounds,`;
    return { name, value: summarize(ratios).median, atMost: maxRatio };
  };
  const reference = contenders.at(-1)?.name;
  return {
    section: {
      title: `${load}: ${CONNECTIONS} connections, ${ROUNDS} turns of ${seconds} s each`,
      columns: [
        ...['contender', 'requests a second', 'p50, ms', 'p99, ms'],
        ['CPU of a request, ms', 2],
        'failed',
        ['memory, MB', 1],
      ],
      rows,
      goals: [
        toGoal(`throughput of ${reference} ÷ ours`, (our, its) => its.perSecond / our.perSecond),
        toGoal(
          `our CPU of a request ÷ ${reference}`,
          (our, its) => our.cpuMilliseconds / its.cpuMilliseconds,
        ),
      ],
    },
    problems,
  };
}

/**
 * The most bytes that flat memory may grow, after a collection, from one measurement to a later one: for V8's late
 * compilation and for noise. A leak of 32 bytes a request shows from 65,536 requests on.
 */
export const MAX_GROWTH = 2 * 1024 * 1024;

const MEGABYTE = 1024 * 1024;

/** Seconds, for some 100,000 requests: V8 compiles during these, which would look like growth. */
const WARM_UP = 120;

/**
 * Puts the service under the mix. A tenth of the time warms up, or more: at least WARM_UP, or a third if that is
 * shorter. The rest is measured in halves.
 */
export async function soak(ours: Contender, soakSeconds: number): Promise<Outcome> {
  const warmUp = Math.max(soakSeconds / 10, Math.min(WARM_UP, soakSeconds / 3));
  const half = (soakSeconds - warmUp) / 2;
  const run = async (seconds: number) => {
    const figures = await putUnderLoad(ours, 'mix', seconds);
    return { ...figures, ...(await takeVitals(ours, true)) };
  };
  const [first, middle, last] = [await run(warmUp), await run(half), await run(half)];
  const growth = Math.max(
    middle.usedBytes - first.usedBytes,
    last.usedBytes - Math.min(first.usedBytes, middle.usedBytes),
  );
  const stretches = { 'warm-up': first, 'first half': middle, 'second half': last };
  return {
    section: {
      title: `A soak of ${soakSeconds} s with the mix, ${CONNECTIONS} connections`,
      columns: [
        ...['stretch', 'requests', 'p50, ms', 'p99, ms', 'failed'],
        ['memory after it, MB', 2],
        'process, MB',
      ],
      rows: Object.entries(stretches).map(([name, figures]) => {
        const { requests, p50, p99, failures, usedBytes, rss } = figures;
        return [name, requests, p50, p99, failures, usedBytes / MEGABYTE, rss / MEGABYTE];
      }),
      goals: [{ name: 'MB of growth', value: growth / MEGABYTE, atMost: MAX_GROWTH / MEGABYTE }],
      notes: [
        'Memory is that of gateway and functions after a collection; the process includes the engine.',
      ],
    },
    problems: [
      ...(growth > MAX_GROWTH ? ['The memory of the functions is not flat.'] : []),
      ...findProblems('ours', first.failures + middle.failures + last.failures, last),
    ],
  };
}

function findProblems(
  name: string,
  failures: number,
  { errorLines, firstError }: Vitals,
): string[] {
  return [
    ...(failures > 0 ? [`${name}: ${failures} requests had no 2xx response.`] : []),
    ...(errorLines > 0 ? [`${name}: ${errorLines} lines of level ERROR, first ${firstError}`] : []),
  ];
}
