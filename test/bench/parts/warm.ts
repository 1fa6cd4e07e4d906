import { log } from '../../../infra/cli/output.ts';
import { benchedIds, warmLimits } from '../buildBundles.ts';
import { measureInTurns, type PartInput, toEvent, toSale } from '../functionHost.ts';
import type { Cell, Goal, Section } from '../report.ts';

/** The CPU of one request in a warm function, from event to response, with its key in the cache. */
export async function measureWarm(input: PartInput): Promise<Section[]> {
  const { host, bundles, quick } = input;
  await host.setEntries(50);
  const rows: Cell[][] = [];
  const goals: Goal[] = [];
  for (const id of benchedIds) {
    log(`warm: ${id} …`);
    const event = toEvent(id, host.apiKey);
    const contenders = {
      ours: { bundle: bundles.ours[id], event },
      peer: { bundle: bundles.peer[id], event },
      bare: { bundle: bundles.bare[id], event },
    };
    const runs = { times: quick ? 200 : 300, rounds: quick ? 7 : 31, settling: 4 };
    const { ours, peer, bare } = await measureInTurns(host, contenders, runs);
    const value = ours.cpu.median / bare.cpu.median;
    rows.push([id, ours.cpu, peer.cpu, bare.cpu, value, peer.cpu.median / bare.cpu.median]);
    const { [id]: atMost } = warmLimits;
    if (atMost) goals.push({ name: `the CPU of ${id} ÷ the bare call`, value, atMost });
  }
  const section = {
    title: 'Warm: CPU of one request, in milliseconds',
    columns: [
      'operation',
      ['ours', 3],
      ['peer', 3],
      ['bare', 3],
      ['ours ÷ bare', 2],
      ['peer ÷ bare', 2],
    ],
    rows,
    goals,
    notes: [
      'Medians of rounds of some hundred requests each, taken in turns; brackets show the middle half.',
      'CPU counts the whole process, without DynamoDB. There are 50 inventory entries and 20 orders.',
      'Bare is the same call with JSON.parse and JSON.stringify around it: no key, no checks, no log.',
    ],
  } satisfies Section;
  return [section, await measureWrites(input)];
}

/** The times of updates and adjustments, when each call to DynamoDB takes 5 ms longer. */
async function measureWrites({ host, bundles, quick }: PartInput): Promise<Section> {
  log('warm: the time of an update, and of adjustments …');
  await host.setEntries(50, 5);
  const toAdjustment = (pets: number) => {
    const petIds = Array.from({ length: pets }, (_, index) => 7 + index);
    const event = toEvent('adjustInventory', host.apiKey, {}, '', toSale(petIds));
    return { bundle: bundles.ours.adjustInventory, event };
  };
  const contenders = {
    update: {
      bundle: bundles.ours.updateInventory,
      event: toEvent('updateInventory', host.apiKey),
    },
    'adjustment of one pet': toAdjustment(1),
    'adjustment of ten': toAdjustment(10),
  };
  const runs = { times: 20, rounds: quick ? 7 : 31, settling: 15 };
  const measured = await measureInTurns(host, contenders, runs);
  const toGoal = (write: keyof typeof contenders, atMost: number): Goal => {
    const value = measured[write].time.median / measured.update.time.median;
    return { name: `the time, ${write} ÷ update,`, value, atMost };
  };
  return {
    title: 'Warm: time of a write, in milliseconds, with 5 ms more for each call to DynamoDB',
    columns: ['write', ['time', 1]],
    rows: Object.entries(measured).map(([name, { time }]) => [name, time]),
    goals: [toGoal('adjustment of one pet', 2.1), toGoal('adjustment of ten', 2.4)],
    notes: ['An adjustment makes two calls: the transaction, and the read of the entries.'],
  };
}
