import { tell } from '../../../infra/cli/output.ts';
import { type BenchedId, benchedIds } from '../buildBundles.ts';
import { type PartInput, toEvent } from '../functionHost.ts';
import type { RunResult } from '../functionProcess.ts';
import {
  type Cell,
  type Goal,
  interleave,
  type Section,
  type Summary,
  summarize,
} from '../report.ts';

/** The most CPU that a request may take, as a ratio to the bare call. */
const atMostOf: Partial<Record<BenchedId, number>> = {
  updateInventory: 1.05,
  getPet: 1.1,
  listOrders: 1.1,
};

const withKey = { 'Idempotency-Key': 'one' };

/** The CPU of one request in a warm function, from event to response, with its key in the cache. */
export async function measureWarm(input: PartInput): Promise<Section[]> {
  await input.host.setEntries(50);
  const rows: Cell[][] = [];
  const goals: Goal[] = [];
  const { ours, peer, bare, keyed } = input.bundles;
  function addRow(name: string, atMost: number | undefined, [own, calls, others]: Summary[]) {
    if (!own || !calls) return;
    const value = own.median / calls.median;
    rows.push([name, own, others, calls, value, others && others.median / calls.median]);
    if (atMost) goals.push({ name: `the CPU of ${name} ÷ the bare call`, value, atMost });
  }
  for (const id of benchedIds) {
    addRow(id, atMostOf[id], await measureCpu(input, id, [ours[id], bare[id], peer[id]]));
  }
  const both = await measureCpu(input, 'updateInventory', [ours.updateInventory, keyed], withKey);
  addRow('updateInventory with a key', 1.05, both);
  const section = {
    title: 'Warm: CPU of one request, in microseconds',
    columns: ['operation', 'ours', 'peer', 'bare', ['ours ÷ bare', 2], ['peer ÷ bare', 2]],
    rows,
    goals,
    notes: [
      'Medians of rounds of some hundred requests each, taken in turns; brackets show the middle half.',
      'CPU counts the whole process, without DynamoDB. There are 50 inventory entries and 20 orders.',
      'Bare is the same call with JSON.parse and JSON.stringify around it: no key, no checks, no log.',
    ],
  } satisfies Section;
  return [section, await measureKeyed(input)];
}

/** The time of an update with a key and without, when each call to DynamoDB takes 5 ms longer. */
async function measureKeyed({ host, bundles, quick }: PartInput): Promise<Section> {
  tell('warm: the time of an update with a key …');
  const child = await host.startFunction(bundles.ours.updateInventory);
  const events = [{}, withKey].map((headers) => toEvent('updateInventory', host.apiKey, headers));
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
    title: 'Warm: time of an update, in milliseconds, with 5 ms more for each call to DynamoDB',
    columns: [
      ['without a key', 1],
      ['with an Idempotency-Key', 1],
    ],
    rows: [[plain, keyed]],
    goals: [{ name: 'the time of a keyed update ÷ without a key', value, atMost: 1.15 }],
  };
}

async function measureCpu(
  { host, quick }: PartInput,
  operationId: BenchedId,
  bundles: readonly string[],
  headers = {},
): Promise<Summary[]> {
  tell(`warm: ${[operationId, ...Object.keys(headers)].join(' with ')} …`);
  const run = { event: toEvent(operationId, host.apiKey, headers), times: quick ? 200 : 300 };
  const functions = await Promise.all(bundles.map((bundle) => host.startFunction(bundle)));
  // Until the compiler has settled.
  for (const child of functions) await child.ask({ ...run, times: 1_000 });
  const samples = await interleave(functions, quick ? 7 : 31, async (child) => {
    const { cpuMilliseconds } = await child.ask<RunResult>(run);
    return (1_000 * cpuMilliseconds) / run.times;
  });
  await Promise.all(functions.map((child) => child.end()));
  return [...samples.values()].map(summarize);
}
