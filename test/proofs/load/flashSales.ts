import { randomUUID } from 'node:crypto';
import { stages } from '../../../infra/stages/stages.ts';
import { createPetstoreClient, PetstoreError } from '../../../shared/client/index.ts';
import type { Cell } from '../../bench/report.ts';
import type { Findings } from '../../support/testCommand.ts';
import type { StageProcessOptions } from '../stageProcess.ts';
import { type Service, startService, takeVitals } from './soak.ts';

interface FlashSale {
  readonly name: string;
  readonly buyers: number;
  /** Of each pet. */
  readonly units: number;
  /** Of one unit of each pet. Buyers take turns with them. */
  readonly carts: readonly (readonly bigint[])[];
  readonly conditions: StageProcessOptions;
  /** Until every buyer has a cart or knows that it is sold out. */
  readonly maxSeconds: number;
  readonly maxRequests?: number;
}

const { throttles } = stages.production.settings;
const faultInjection = { delayMilliseconds: 20, throttles };

/** Of entries in `infra/local/sample.json` that are available. */
const flashSales: readonly FlashSale[] = [
  {
    name: '200 buyers of 100 units',
    buyers: 200,
    units: 100,
    carts: [[7n]],
    conditions: { faultInjection },
    maxSeconds: 3,
    maxRequests: 2.5,
  },
  {
    name: '50 carts of 3 pets, and transactions conflict',
    buyers: 50,
    units: 15,
    carts: [
      [2n, 4n, 7n],
      [7n, 9n, 2n],
      [4n, 9n, 7n],
      [9n, 2n, 4n],
    ],
    conditions: { faultInjection, transactionsConflict: true },
    maxSeconds: 6,
  },
];

export async function runFlashSales(options: StageProcessOptions): Promise<Findings> {
  const rows: Cell[][] = [];
  const problems: string[] = [];
  for (const sale of flashSales) {
    const service = await startService({ ...options, ...sale.conditions });
    const outcome = await runFlashSale(service, sale);
    await service.end();
    const { seconds, soldAfter, requests, bought, soldOut, failures, conflicts } = outcome;
    const rates = [seconds, requests / sale.buyers, bought / soldAfter];
    rows.push([sale.name, ...rates, bought, soldOut, failures.length, conflicts]);
    problems.push(...outcome.problems.map((problem) => `${sale.name}: ${problem}.`));
  }
  return {
    section: {
      title:
        "Flash sales: each buyer buys one cart, all at once, at 20 ms a response, within production's throttles",
      columns: [
        ...(['sale', ['seconds', 1], ['requests a buyer', 1], ['carts a second', 1]] as const),
        ...['bought', 'sold out', 'failed', 'conflicts'],
      ],
      rows,
      notes: [
        'Carts a second are those until the last one is sold. The other buyers then get their refusals.',
      ],
    },
    problems,
  };
}

export async function runFlashSale(
  service: Service,
  { buyers, units, carts, maxSeconds, maxRequests }: FlashSale,
) {
  const { baseUrl, apiKey } = service.first;
  const owner = createPetstoreClient({ baseUrl, apiKey });
  const petIds = [...new Set(carts.flat())];
  for (const petId of petIds) await owner.updateInventory(petId, { quantity: units });
  let requests = 0;
  let soldAfter = 0;

  async function buy(cart: readonly bigint[]) {
    const buyer = createPetstoreClient({
      baseUrl,
      apiKey,
      onResponse() {
        requests += 1;
      },
    });
    const adjustments = cart.map((petId) => ({ petId, delta: -1 }));
    try {
      await buyer.adjustInventory(adjustments, { idempotencyKey: randomUUID() });
      soldAfter = passed();
      return { cart, outcome: 'bought' as const };
    } catch (error) {
      if (!(error instanceof PetstoreError)) throw error;
      return { cart, outcome: error.code === 'insufficient_stock' ? ('soldOut' as const) : error };
    }
  }

  const started = performance.now();
  const passed = () => (performance.now() - started) / 1_000;
  const sales = await Promise.all(
    Array.from({ length: buyers }, (_, buyer) => buy(carts[buyer % carts.length] ?? [])),
  );
  const seconds = passed();
  const left = new Map<bigint, number>();
  for (const petId of petIds) left.set(petId, (await owner.getInventoryEntry(petId)).quantity);
  const { conflicts } = await takeVitals(service);
  const cartsWith = (sought: unknown) => sales.filter(({ outcome }) => outcome === sought);
  const [bought, refused] = [cartsWith('bought'), cartsWith('soldOut')];
  const failures = sales.flatMap(({ outcome }) => (outcome instanceof Error ? outcome : []));
  const isRefusedWrongly = ({ cart }: (typeof sales)[number]) =>
    cart.every((petId) => left.get(petId) !== 0);
  const problems = [
    ...petIds.flatMap((petId) => {
      const sold = bought.filter(({ cart }) => cart.includes(petId)).length;
      const count = left.get(petId);
      return count === units - sold ? [] : [`${sold} bought ${petId}, and ${count} are left`];
    }),
    ...(refused.some(isRefusedWrongly)
      ? ['a cart was refused although all its pets are left']
      : []),
    ...(failures.length === 0 ? [] : [`${failures.length} failed, first with ${failures[0]}`]),
    ...(seconds <= maxSeconds ? [] : [`it took ${seconds.toFixed(1)} s, not ${maxSeconds}`]),
    ...(maxRequests === undefined || requests <= maxRequests * buyers
      ? []
      : [`a buyer needed ${requests / buyers} requests, not ${maxRequests}`]),
  ];
  return {
    seconds,
    soldAfter,
    requests,
    failures,
    conflicts,
    problems,
    bought: bought.length,
    soldOut: refused.length,
  };
}
