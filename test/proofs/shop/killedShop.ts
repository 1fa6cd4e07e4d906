import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { createPetstoreClient } from '../../../shared/client/index.ts';
import { type Shop, type Step, startShop } from '../../conformance/client/examples/sellers.ts';
import type { ConformanceTarget } from '../../conformance/target.ts';

type Service = Pick<ConformanceTarget, 'baseUrl' | 'apiKey'>;

export interface KilledShopOptions extends Service {
  /** The shop's file. */
  readonly database: string;
  /** Their counts should be too low for all orders, so that some are refused. */
  readonly petIds: readonly bigint[];
  readonly orders: number;
  /** Orders at a time. */
  readonly customers: number;
  readonly kills: number;
}

/** What the shop's database says at the end. */
export interface KilledShop {
  readonly steps: number;
  readonly done: number;
  readonly refused: number;
  readonly open: number;
  /** Pieces between the database and the stock, over all pets. */
  readonly difference: number;
}

/**
 * Customers order, return and cancel, and ask again while a step is open or the shop is down. It is killed in the
 * middle, and starts again at once.
 */
export async function runKilledShop(options: KilledShopOptions): Promise<KilledShop> {
  const { petIds, orders, customers, kills, database } = options;
  const before = await readStock(options);
  let shop = await startShop(options, database);
  let settled = 0;

  /** Asks until the shop says the outcome. @returns whether it is done */
  async function ask(...words: Parameters<Shop['call']>): Promise<boolean> {
    for (;;) {
      const { status } = await shop.call(...words).catch(() => ({ status: 0 }));
      if (status === 200 || status === 409) return status === 200;
      if (status !== 0 && status !== 202) throw new Error(`${words}: status ${status}`);
      await setTimeout(20);
    }
  }

  async function order(index: number): Promise<void> {
    const places = Array.from({ length: 1 + (index % 4) }, (_, line) => index * 3 + line);
    const lines = places.map((place) => [`${petIds[place % petIds.length]}`, 1 + (place % 3)]);
    const isSold = await ask('PUT', `/${index}`, Object.fromEntries(lines));
    if (isSold && index % 3 === 0) {
      await ask('PUT', `/${index}/returns/1`, Object.fromEntries([[lines[0]?.[0], 1]]));
    }
    if (isSold && index % 4 === 0) await ask('DELETE', `/${index}`);
    settled += 1;
    const kill = Math.ceil(orders / (kills + 1));
    if (settled % kill !== 0 || settled === orders) return;
    // Others are in the middle of theirs.
    await shop.kill();
    shop = await startShop(options, database);
  }

  const all = Array.from({ length: orders }, (_, index) => index).values();
  const work = async () => {
    for (const index of all) await order(index);
  };
  await Promise.all(Array.from({ length: customers }, work));
  await shop.kill();
  return compare(database, before, await readStock(options));
}

export interface UnheardShopOptions extends Service {
  readonly database: string;
  readonly before: Stock;
  /** Stops the stage, no response of which arrives. */
  readonly stop: () => Promise<void>;
  /** Starts a stage that has its data. */
  readonly startAgain: () => Promise<Service>;
}

/** Half of the orders ask for more than there is. */
export async function runUnheardShop({ before, database, ...options }: UnheardShopOptions) {
  let shop = await startShop(options, database);
  const orders = [...before].map(([petId, quantity], index) => {
    return `{"${petId}":${index % 2 === 0 ? 1 : quantity + 1}}`;
  });
  const sell = () => Promise.all(orders.map((cart, index) => shop.call('PUT', `/u${index}`, cart)));
  await sell();
  const unheard = compare(database, before, before);
  await options.stop();
  await sell();
  const stopped = compare(database, before, before);
  await shop.kill();
  const service = await options.startAgain();
  shop = await startShop(service, database);
  for (let left = 500; left > 0 && compare(database, before, before).open > 0; left -= 1) {
    await setTimeout(50);
  }
  await shop.kill();
  return { unheard, stopped, again: compare(database, before, await readStock(service)) };
}

type Stock = ReadonlyMap<string, number>;

async function readStock({ baseUrl, apiKey }: Service): Promise<Stock> {
  const petstore = createPetstoreClient({ baseUrl, apiKey, maxRetries: 50 });
  const { items } = await petstore.listInventory();
  return new Map(items.map(({ petId, quantity }) => [`${petId}`, quantity]));
}

/** Compares the done steps with what has changed in the stock. */
function compare(database: string, before: Stock, after: Stock): KilledShop {
  const file = new DatabaseSync(database, { readOnly: true, timeout: 5_000 });
  const steps = file.prepare('SELECT * FROM steps').all() as unknown as Step[];
  file.close();
  const count = (state: Step['state']) => steps.filter((step) => step.state === state).length;
  const expected = new Map(before);
  for (const { deltas } of steps.filter(({ state }) => state === 'done')) {
    for (const [petId, delta] of Object.entries<number>(JSON.parse(deltas))) {
      expected.set(petId, (expected.get(petId) ?? 0) + delta);
    }
  }
  const differences = [...after].map(([petId, now]) => Math.abs(now - (expected.get(petId) ?? 0)));
  return {
    steps: steps.length,
    done: count('done'),
    refused: count('refused'),
    open: count('open'),
    difference: differences.reduce((sum, each) => sum + each, 0),
  };
}
