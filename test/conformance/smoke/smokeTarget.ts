import { getRandomValues } from 'node:crypto';
import type { Permission } from '../../../shared/contract/operation.ts';
import { responses } from '../../../shared/contract/operations.ts';
import type { InventoryItem } from '../../../shared/contract/schemas/inventory.ts';
import type { Order } from '../../../shared/contract/schemas/order.ts';
import type { Pet } from '../../../shared/contract/schemas/pet.ts';
import type { ExactResponse } from '../../support/exactFetch.ts';
import { type ConformanceTarget, type Fixtures, send, sendUpdate } from '../target.ts';

/** What a smoke test has to be told. */
export interface SmokeSettings {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** An origin that the stage allows; without one, that which the stage itself names first. */
  readonly origin: string | undefined;
}

export interface SmokeTarget extends ConformanceTarget {
  /** What the key allows. */
  readonly permission: Permission;
  /** Reads anew what the stage holds. */
  refresh(): Promise<void>;
}

/** How many entries of each list the rows look at one by one. */
const SAMPLE = 20;

/**
 * A deployed stage, with what it holds read through its own operations.
 * @throws {Error} when it does not answer as any stage would
 */
export async function openSmokeTarget(settings: SmokeSettings): Promise<SmokeTarget> {
  const { baseUrl, apiKey } = settings;
  const bare = { baseUrl, apiKey, readOnlyApiKey: apiKey, waitsForLimits: true, origin: '' };
  const none = { inventory: [], pets: [], orders: [], complete: false };
  const asking: ConformanceTarget = {
    ...bare,
    fixtures: { ...none, changeablePetId: 0n, missingPetId: 0n },
    close: async () => {},
  };
  let fixtures = await readFixtures(asking);
  return {
    ...asking,
    origin: settings.origin ?? (await readOrigin(asking)),
    permission: await readPermission(asking, fixtures.missingPetId),
    get fixtures() {
      return fixtures;
    },
    async refresh() {
      fixtures = await readFixtures(asking);
    },
  };
}

async function readFixtures(target: ConformanceTarget): Promise<Fixtures> {
  const inventory = responses.listInventory.parse(
    await readJson(target, '/inventory'),
  ) as InventoryItem[];
  const orders = responses.listOrders.parse(await readJson(target, '/store/orders')) as Order[];
  const sample = inventory.slice(0, SAMPLE);
  const petIds = new Set(inventory.map(({ petId }) => petId));
  let missingPetId: bigint;
  do missingPetId = getRandomValues(new BigInt64Array(1))[0] ?? 0n;
  while (petIds.has(missingPetId));
  return {
    inventory: sample,
    orders: orders.slice(0, SAMPLE),
    pets: await findPets(target, sample),
    complete: false,
    // No row of the smoke test may change an entry, so none is named.
    changeablePetId: missingPetId,
    missingPetId,
  };
}

/** No operation lists the pets, so they are looked for under the ids of the inventory. */
async function findPets(
  target: ConformanceTarget,
  inventory: readonly InventoryItem[],
): Promise<Pet[]> {
  const pets: Pet[] = [];
  for (const { petId } of inventory) {
    const response = await send(target, 'GET', `/pets/${petId}`);
    if (response.status === 200) pets.push(responses.getPet.parse(response.json()) as Pet);
    if (pets.length === 3) break;
  }
  return pets;
}

/** An update of an entry that does not exist tells by its error what the key allows. */
async function readPermission(target: ConformanceTarget, petId: bigint): Promise<Permission> {
  const { status } = await sendUpdate(target, petId, '{"quantity":0}');
  return status === 403 ? 'read' : 'write';
}

async function readOrigin(target: ConformanceTarget): Promise<string> {
  const { headers } = await send(target, 'OPTIONS', '/inventory', {
    apiKey: null,
    headers: { Origin: 'https://smoke.invalid', 'Access-Control-Request-Method': 'GET' },
  });
  const allowed = headers.get('Access-Control-Allow-Origin') ?? '*';
  return allowed === '*' ? 'https://smoke.invalid' : allowed;
}

async function readJson(target: ConformanceTarget, path: string): Promise<unknown> {
  const response: ExactResponse = await send(target, 'GET', path);
  if (response.status === 200) return response.json();
  throw new Error(`GET ${path} answered ${response.status}: ${response.text.slice(0, 200)}`);
}
