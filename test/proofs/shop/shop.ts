import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { projectRoot } from '../../../infra/stages/projectRoot.ts';
import { createPetstoreClient } from '../../../shared/client/index.ts';
import { type Shop, type Step, startShop } from '../../conformance/client/examples/sellers.ts';
import { makeScratchFolder, runProof } from '../../support/testCommand.ts';

const text = {
  about:
    'Sells forty orders by the example shop.ts, six at a time, against a local stage that loses a fifth of its responses, fails a tenth of its requests with 503 and has the throttles of production. The shop is killed twice in the middle. Then ten orders more, of whose responses none arrives, and whose stage stops. Fails if a step is not settled, if the database of the shop differs from the stock, or if it calls a step refused while it cannot know.',
  options: {},
} as const;

const folder = makeScratchFolder('shop');
/** Too few for forty orders. */
const QUANTITY = 12;
const ORDERS = 40;
/** Orders at a time. */
const CUSTOMERS = 6;
const KILLS = 2;
const petIds = [-9007199254740993n, ...Array.from({ length: 9 }, (_, index) => BigInt(index))];
const inventory = petIds.map(
  (petId) => `{"petId":${petId},"quantity":${QUANTITY},"status":"available"}`,
);
const full: Stock = new Map(petIds.map((petId) => [`${petId}`, QUANTITY]));
const data = join(folder, 'stock.json');
writeFileSync(data, `{"inventory":[${inventory}]}`);

await runProof('shop', text, async () => {
  const killed = await runKilledShop();
  const { unheard, stopped, again } = await runUnheardShop();
  const rows = [
    ['it was killed twice', killed],
    ['no response arrived', { ...unheard, difference: undefined }],
    ['the stage had stopped', { ...stopped, difference: undefined }],
    ['the stage ran again', again],
  ] as const;
  return {
    section: {
      title: 'shop.ts',
      columns: ['after', 'steps', 'done', 'refused', 'open', 'difference'],
      rows: rows.map(([name, { steps, done, refused, open, difference }]) => {
        return [name, steps, done, refused, open, difference];
      }),
    },
    problems: [
      ...expectSettled('killed', killed),
      ...expectSettled('again', again),
      ...[unheard, stopped]
        .filter(({ steps, open }) => open < steps || steps === 0)
        .map(() => 'A step has an outcome that no response said.'),
    ],
  };
});

function expectSettled(name: string, { steps, open, difference }: Comparison): string[] {
  return [
    ...(open > 0 || steps === 0 ? [`${name}: ${open} of ${steps} steps are open.`] : []),
    ...(difference > 0 ? [`${name}: the stock differs by ${difference}.`] : []),
  ];
}

/**
 * Customers order, return and cancel, and ask again while a step is open or the shop is down. It is killed in the
 * middle, and starts again at once.
 */
async function runKilledShop(): Promise<Comparison> {
  const faults = ['--lose', '0.2', '--fail', '503:0.1', '--throttle', 'production'];
  const stage = await startStage('--data', data, ...faults);
  const database = join(folder, 'killed.db');
  let shop = await startShop(stage, database);
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
    if (settled % Math.ceil(ORDERS / (KILLS + 1)) !== 0 || settled === ORDERS) return;
    // Others are in the middle of theirs.
    await shop.kill();
    shop = await startShop(stage, database);
  }

  const all = Array.from({ length: ORDERS }, (_, index) => index).values();
  const work = async () => {
    for (const index of all) await order(index);
  };
  await Promise.all(Array.from({ length: CUSTOMERS }, work));
  await shop.kill();
  const compared = compare(database, full, await readStock(stage));
  await stage.stop();
  return compared;
}

/** No response arrives, and the stage stops. Half of the orders ask for more than there is. */
async function runUnheardShop() {
  const dir = join(folder, 'data');
  const stage = await startStage('--data', data, '--dir', dir, '--lose', '1');
  const database = join(folder, 'unheard.db');
  let shop = await startShop(stage, database);
  const orders = petIds.map((petId, index) => {
    return `{"${petId}":${index % 2 === 0 ? 1 : QUANTITY + 1}}`;
  });
  const sell = () => Promise.all(orders.map((cart, index) => shop.call('PUT', `/u${index}`, cart)));
  await sell();
  const unheard = compare(database, full, full);
  await stage.stop();
  await sell();
  const stopped = compare(database, full, full);
  await shop.kill();
  const again = await startStage('--dir', dir);
  shop = await startShop(again, database);
  for (let left = 500; left > 0 && compare(database, full, full).open > 0; left -= 1) {
    await setTimeout(50);
  }
  await shop.kill();
  return { unheard, stopped, again: compare(database, full, await readStock(again)) };
}

type Stock = ReadonlyMap<string, number>;

async function readStock({ baseUrl, apiKey }: Stage): Promise<Stock> {
  const petstore = createPetstoreClient({ baseUrl, apiKey, maxRetries: 50 });
  const { items } = await petstore.listInventory();
  return new Map(items.map(({ petId, quantity }) => [`${petId}`, quantity]));
}

type Comparison = ReturnType<typeof compare>;

/** What the shop's database says, and by how many units its done steps differ from what has changed in the stock. */
function compare(database: string, before: Stock, after: Stock) {
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

type Stage = Awaited<ReturnType<typeof startStage>>;

/** A stage as `npm start` starts it. */
async function startStage(...options: readonly string[]) {
  const program = join(projectRoot, 'infra/petstore.js');
  const child = spawn(process.execPath, [program, 'start', '--port', '0', ...options], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  process.once('exit', () => child.kill());
  let output = '';
  for await (const chunk of child.stdout) {
    output += chunk;
    if (output.includes('Documentation: ')) break;
  }
  const find = (name: string) => new RegExp(`^${name}: (\\S+)$`, 'm').exec(output)?.[1] ?? '';
  return {
    baseUrl: find('Base URL'),
    apiKey: find('API key'),
    async stop() {
      child.kill();
      await once(child, 'exit');
    },
  };
}
