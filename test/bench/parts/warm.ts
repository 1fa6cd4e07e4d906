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

/** The CPU of one request in a warm function, from event to response, with its key in the cache. */
export async function measureWarm(input: PartInput): Promise<Section[]> {
  await input.host.setEntries(50);
  const rows: Cell[][] = [];
  const goals: Goal[] = [];
  for (const id of benchedIds) {
    const [ours, peer, bare] = await measureCpu(input, id);
    const value = ours.median / bare.median;
    rows.push([id, ours, peer, bare, value, peer.median / bare.median]);
    const { [id]: atMost } = atMostOf;
    if (atMost) goals.push({ name: `the CPU of ${id} ÷ the bare call`, value, atMost });
  }
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
  const events = [{}, { 'Idempotency-Key': 'one' }].map((headers) =>
    toEvent('updateInventory', host.apiKey, headers),
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
    title: 'Warm: time of an update, in milliseconds, with 5 ms more for each call to DynamoDB',
    columns: [
      ['without a key', 1],
      ['with an Idempotency-Key', 1],
    ],
    rows: [[plain, keyed]],
    goals: [{ name: 'the time of a keyed update ÷ without a key', value, atMost: 1.15 }],
  };
}

/** Of our function, of the peer's and of the bare call. */
async function measureCpu(
  { host, bundles: { ours, peer, bare }, quick }: PartInput,
  id: BenchedId,
): Promise<[Summary, Summary, Summary]> {
  tell(`warm: ${id} …`);
  const run = { event: toEvent(id, host.apiKey), times: quick ? 200 : 300 };
  const contenders = [ours[id], peer[id], bare[id]];
  const functions = await Promise.all(contenders.map((bundle) => host.startFunction(bundle)));
  // Until the compiler has settled.
  for (const child of functions) await child.ask({ ...run, times: 1_000 });
  const samples = await interleave(functions, quick ? 7 : 31, async (child) => {
    const { cpuMilliseconds } = await child.ask<RunResult>(run);
    return (1_000 * cpuMilliseconds) / run.times;
  });
  await Promise.all(functions.map((child) => child.end()));
  return [...samples.values()].map(summarize) as [Summary, Summary, Summary];
}
