import { log } from '../../../infra/cli/output.ts';
import { benchedIds, warmLimits } from '../buildBundles.ts';
import { measureInTurns, type PartInput, toEvent } from '../functionHost.ts';
import type { Cell, Goal, Section } from '../report.ts';

/** The CPU of one request in a warm function, from event to response, with its key in the cache. */
export async function measureWarm({ host, bundles, quick }: PartInput): Promise<Section> {
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
  return {
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
  };
}
