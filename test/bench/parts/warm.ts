import { type BenchedId, benchedIds } from '../buildBundles.ts';
import { type FunctionHost, type PartInput, startFunctionHost, toEvent } from '../functionHost.ts';
import type { RunResult } from '../functionProcess.ts';
import { interleave, type Section, type Summary, summarize } from '../report.ts';

const contenderNames = ['ours', 'peer', 'bare'] as const;
type ContenderName = (typeof contenderNames)[number];

/** What one request costs a function that is warm, from event to answer, with its key remembered. */
export async function measureWarm(input: PartInput): Promise<readonly Section[]> {
  const host = await startFunctionHost(input);
  try {
    const figures = [];
    for (const operationId of benchedIds) {
      input.report(`warm: ${operationId}`);
      figures.push({ operationId, ...(await measureOperation(host, input, operationId)) });
    }
    input.report('warm: updateInventory with an Idempotency-Key');
    return [toSection(figures), await measureKeyed(host, input)];
  } finally {
    await host.end();
  }
}

/** What a request may cost, as a ratio to the bare call. */
const atMostOf: Partial<Record<BenchedId, number>> = {
  updateInventory: 1.05,
  getPet: 1.1,
  listOrders: 1.1,
};

type Figures = Record<ContenderName, Summary>;

async function measureOperation(
  host: FunctionHost,
  { bundles, quick }: PartInput,
  operationId: BenchedId,
): Promise<Figures> {
  const run = { event: toEvent(operationId, host.apiKey), times: quick ? 200 : 300 };
  const contenders = await Promise.all(
    contenderNames.map(async (name) => ({
      name,
      child: await host.startFunction(bundles[name][operationId], `${operationId}-${name}`),
    })),
  );
  // Until the compiler has settled.
  for (const { child } of contenders) await child.ask({ ...run, times: 1_000 });
  const samples = await interleave(contenders, quick ? 7 : 31, async ({ child }) => {
    const { cpuMilliseconds } = await child.ask<RunResult>(run);
    return (1_000 * cpuMilliseconds) / run.times;
  });
  await Promise.all(contenders.map(({ child }) => child.end()));
  const entries = [...samples].map(([{ name }, values]) => [name, summarize(values)]);
  return Object.fromEntries(entries) as Figures;
}

const updates = ['without a key', 'with an Idempotency-Key'] as const;

/** The time of an update with a key and without, where each call of DynamoDB takes 5 ms more. */
async function measureKeyed(host: FunctionHost, { bundles, quick }: PartInput): Promise<Section> {
  const child = await host.startFunction(bundles.ours.updateInventory, 'updateInventory-keyed');
  const contenders = updates.map((name) => ({
    name,
    event: toEvent('updateInventory', host.apiKey, {
      ...(name === 'without a key' ? {} : { 'Idempotency-Key': 'one' }),
    }),
  }));
  for (const { event } of contenders) await child.ask({ event, times: 1_000 });
  await host.setEntries(50, 5);
  const samples = await interleave(contenders, quick ? 7 : 31, async ({ event }) => {
    const times = 20;
    return (await child.ask<RunResult>({ event, times })).milliseconds / times;
  });
  await child.end();
  const figures = [...samples].map(([{ name }, values]) => [name, summarize(values)] as const);
  const [without, keyed] = figures.map(([, { median }]) => median) as [number, number];
  return {
    title: 'Warm: time of an update, in milliseconds, with 5 ms for each call of DynamoDB',
    columns: [{ name: 'update' }, { name: 'time' }, { name: '÷ without a key', digits: 2 }],
    rows: figures.map(([name, time]) => [name, time, time.median / without]),
    goals: [
      { name: 'the time of a keyed update ÷ without a key', value: keyed / without, atMost: 2.2 },
    ],
    notes: [],
  };
}

function toSection(figures: (Figures & { operationId: BenchedId })[]): Section {
  return {
    title: 'Warm: CPU of one request, in microseconds',
    columns: [
      { name: 'operation' },
      ...contenderNames.map((name) => ({ name })),
      { name: 'ours ÷ bare', digits: 2 },
      { name: 'peer ÷ bare', digits: 2 },
    ],
    rows: figures.map(({ operationId, ours, peer, bare }) => [
      operationId,
      ours,
      peer,
      bare,
      ours.median / bare.median,
      peer.median / bare.median,
    ]),
    goals: figures.flatMap(({ operationId, ours, bare }) => {
      const atMost = atMostOf[operationId];
      const name = `the CPU of ${operationId} ÷ the bare call`;
      return atMost === undefined ? [] : [{ name, value: ours.median / bare.median, atMost }];
    }),
    notes: [
      'Medians of rounds of some hundred requests each, taken in turns; in brackets the middle half of them.',
      'CPU of the whole process, DynamoDB not included. The inventory has 50 entries; there are 20 orders.',
      'Bare is the same call with JSON.parse and JSON.stringify around it: no key, no checks, no log.',
    ],
  };
}
