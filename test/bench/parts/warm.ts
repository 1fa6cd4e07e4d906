import { tell } from '../../../infra/cli/output.ts';
import { type BenchedId, benchedIds } from '../buildBundles.ts';
import { type PartInput, toEvent } from '../functionHost.ts';
import type { RunResult } from '../functionProcess.ts';
import { type Cell, type Goal, interleave, type Section, summarize } from '../report.ts';

const contenderNames = ['ours', 'peer', 'bare'] as const;

/** What a request may cost, as a ratio to the bare call. */
const atMostOf: Partial<Record<BenchedId, number>> = {
  updateInventory: 1.05,
  getPet: 1.1,
  listOrders: 1.1,
};

/** What one request costs a function that is warm, from event to answer, with its key remembered. */
export async function measureWarm(input: PartInput): Promise<Section[]> {
  await input.host.setEntries(50);
  const rows: Cell[][] = [];
  const goals: Goal[] = [];
  for (const operationId of benchedIds) {
    tell(`warm: ${operationId} …`);
    const [ours, peer, bare] = await measureOperation(input, operationId);
    if (!ours || !peer || !bare) continue;
    const value = ours.median / bare.median;
    rows.push([operationId, ours, peer, bare, value, peer.median / bare.median]);
    const atMost = atMostOf[operationId];
    if (atMost) goals.push({ name: `the CPU of ${operationId} ÷ the bare call`, value, atMost });
  }
  const section = {
    title: 'Warm: CPU of one request, in microseconds',
    columns: [
      { name: 'operation' },
      ...contenderNames.map((name) => ({ name })),
      { name: 'ours ÷ bare', digits: 2 },
      { name: 'peer ÷ bare', digits: 2 },
    ],
    rows,
    goals,
    notes: [
      'Medians of rounds of some hundred requests each, taken in turns; in brackets the middle half of them.',
      'CPU of the whole process, DynamoDB not included. The inventory has 50 entries; there are 20 orders.',
      'Bare is the same call with JSON.parse and JSON.stringify around it: no key, no checks, no log.',
    ],
  };
  tell('warm: updateInventory with an Idempotency-Key …');
  return [section, await measureKeyed(input)];
}

/** In the order of `contenderNames`. */
async function measureOperation({ host, bundles, quick }: PartInput, operationId: BenchedId) {
  const run = { event: toEvent(operationId, host.apiKey), times: quick ? 200 : 300 };
  const functions = await Promise.all(
    contenderNames.map((name) => host.startFunction(bundles[name][operationId])),
  );
  // Until the compiler has settled.
  for (const child of functions) await child.ask({ ...run, times: 1_000 });
  const samples = await interleave(functions, quick ? 7 : 31, async (child) => {
    const { cpuMilliseconds } = await child.ask<RunResult>(run);
    return (1_000 * cpuMilliseconds) / run.times;
  });
  await Promise.all(functions.map((child) => child.end()));
  return [...samples.values()].map(summarize);
}

/** The time of an update with a key and without, where each call of DynamoDB takes 5 ms more. */
async function measureKeyed({ host, bundles, quick }: PartInput): Promise<Section> {
  const child = await host.startFunction(bundles.ours.updateInventory);
  const events = [{}, { 'Idempotency-Key': 'one' }].map((headers) =>
    toEvent('updateInventory', host.apiKey, headers as Record<string, string>),
  );
  for (const event of events) await child.ask({ event, times: 1_000 });
  await host.setEntries(50, 5);
  const samples = await interleave(events, quick ? 7 : 31, async (event) => {
    const { milliseconds } = await child.ask<RunResult>({ event, times: 20 });
    return milliseconds / 20;
  });
  await child.end();
  const [plain = summarize([0]), keyed = plain] = [...samples.values()].map(summarize);
  const value = keyed.median / plain.median;
  return {
    title: 'Warm: time of an update, in milliseconds, with 5 ms for each call of DynamoDB',
    columns: ['without a key', 'with an Idempotency-Key'].map((name) => ({ name, digits: 1 })),
    rows: [[plain, keyed]],
    goals: [{ name: 'the time of a keyed update ÷ without a key', value, atMost: 2.2 }],
  };
}
