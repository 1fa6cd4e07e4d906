import { setTimeout } from 'node:timers/promises';
import { stages } from '../../../infra/stages/stages.ts';
import { createPetstoreClient, PetstoreError } from '../../../shared/client/index.ts';
import type { Cell } from '../../bench/report.ts';
import type { Findings } from '../../support/testCommand.ts';
import type { StageProcessOptions } from '../stageProcess.ts';
import { type Service, startService, takeVitals } from './soak.ts';

interface Crowd {
  readonly name: string;
  readonly buyers: number;
  readonly pieces: number;
  /** Pages that poll the list meanwhile. */
  readonly pages?: number;
  /** What they meet. */
  readonly conditions: StageProcessOptions;
}

const faultInjection = { delayMilliseconds: 20 };

const crowds: readonly Crowd[] = [
  {
    name: "50 buyers beside 40 pages, production's throttles",
    buyers: 50,
    pieces: 50,
    pages: 40,
    conditions: { faultInjection: { throttles: stages.production.settings.throttles } },
  },
  {
    name: '200 buyers of 100 pieces, 20 ms a response',
    buyers: 200,
    pieces: 100,
    conditions: { faultInjection },
  },
  {
    name: 'the same, and transactions conflict',
    buyers: 200,
    pieces: 100,
    conditions: { faultInjection, transactionsConflict: true },
  },
];

/** Until every buyer has a piece or knows that none is left. */
const MAX_SECONDS = 20;

/** An entry of `infra/local/sample.json` that is available. */
const PET_ID = 7n;
const REFRESH = 5_000;

class SoldOut extends Error {}

export async function sellToCrowds(options: StageProcessOptions): Promise<Findings> {
  const rows: Cell[][] = [];
  const problems: string[] = [];
  for (const crowd of crowds) {
    const service = await startService({ ...options, ...crowd.conditions });
    const sale = await sellToCrowd(service, crowd);
    await service.end();
    const { seconds, soldAfter, requests, bought, soldOut, failures, conflicts } = sale;
    const rates = [seconds, requests / crowd.buyers, bought / soldAfter];
    rows.push([crowd.name, ...rates, bought, soldOut, failures.length, conflicts]);
    problems.push(...sale.problems.map((problem) => `${crowd.name}: ${problem}.`));
  }
  return {
    section: {
      title: 'Crowds: buyers of one piece each of one entry, all at once',
      columns: [
        ...(['crowd', ['seconds', 1], ['requests a buyer', 1], ['pieces a second', 1]] as const),
        ...['bought', 'sold out', 'failed', 'conflicts'],
      ],
      rows,
      notes: ['Pieces a second are those until the last one is sold; then the others learn it.'],
    },
    problems,
  };
}

export async function sellToCrowd(service: Service, { buyers, pieces, pages = 0 }: Crowd) {
  const { baseUrl, apiKey } = service.first;
  const owner = createPetstoreClient({ baseUrl, apiKey });
  await owner.updateInventory(PET_ID, { quantity: pieces });
  const closing = new AbortController();
  const open = Array.from({ length: pages }, () => showPage(baseUrl, apiKey, closing.signal));
  // The pages have used up the throttle of the list.
  if (pages > 0) await setTimeout(2_000);
  let requests = 0;
  let soldAfter = 0;

  async function buy(): Promise<'bought' | 'soldOut' | PetstoreError> {
    const buyer = createPetstoreClient({
      baseUrl,
      apiKey,
      onResponse() {
        requests += 1;
      },
    });
    try {
      await buyer.updateStock(PET_ID, ({ quantity }) => {
        if (quantity === 0) throw new SoldOut();
        return quantity - 1;
      });
      soldAfter = passed();
      return 'bought';
    } catch (error) {
      if (error instanceof SoldOut) return 'soldOut';
      if (error instanceof PetstoreError) return error;
      throw error;
    }
  }

  const started = performance.now();
  const passed = () => (performance.now() - started) / 1_000;
  const outcomes = await Promise.all(Array.from({ length: buyers }, buy));
  const seconds = passed();
  closing.abort();
  await Promise.all(open);
  const { quantity: left } = await owner.getInventoryEntry(PET_ID);
  const { conflicts } = await takeVitals(service);
  const count = (sought: string) => outcomes.filter((outcome) => outcome === sought).length;
  const [bought, soldOut] = [count('bought'), count('soldOut')];
  const failures = outcomes.filter((outcome) => outcome instanceof PetstoreError);
  const problems = [
    ...(bought === Math.min(buyers, pieces) ? [] : [`${bought} bought a piece`]),
    ...(left === pieces - bought ? [] : [`${left} pieces are left`]),
    ...(failures.length === 0 ? [] : [`${failures.length} failed, first with ${failures[0]}`]),
    ...(seconds <= MAX_SECONDS ? [] : [`it took ${seconds.toFixed(1)} s`]),
  ];
  return { seconds, soldAfter, requests, bought, soldOut, failures, conflicts, problems };
}

/** Reads the stock again and again, as the example shop does, until the signal. */
async function showPage(baseUrl: string, apiKey: string, signal: AbortSignal): Promise<void> {
  const page = createPetstoreClient({ baseUrl, apiKey });
  let ifNoneMatch: string | undefined;
  try {
    for (;;) {
      const list = await page.listInventory({ ifNoneMatch }, { signal });
      ifNoneMatch = list?.etag ?? ifNoneMatch;
      await setTimeout(REFRESH, undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
