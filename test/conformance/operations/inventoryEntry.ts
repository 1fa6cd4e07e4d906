import { afterEach } from 'vitest';
import type { InventoryItem } from '../../../shared/contract/schemas.ts';
import { expectSuccess } from '../expectations.ts';
import {
  type ConformanceTarget,
  type Fixtures,
  send,
  sendUpdate,
  type TargetSource,
} from '../target.ts';

export interface Entry {
  readonly petId: number | bigint;
  readonly quantity: number;
  readonly status: string;
}

/** The entry that tests may change, as in the fixtures. */
export function changeableEntry(fixtures: Fixtures): InventoryItem {
  const entry = fixtures.inventory.find(({ petId }) => petId === fixtures.changeablePetId);
  if (entry === undefined) throw new Error('The fixtures have no changeable entry.');
  return entry;
}

export async function readEntry(
  target: ConformanceTarget,
  petId: bigint,
): Promise<Entry | undefined> {
  const response = await send(target, 'GET', `/inventory/${petId}`);
  if (response.status === 404) return undefined;
  expectSuccess(response, 'getInventoryEntry');
  return response.json() as Entry;
}

/** The changeable entry's quantity. */
export async function readQuantity(target: ConformanceTarget): Promise<number | undefined> {
  return (await readEntry(target, target.fixtures.changeablePetId))?.quantity;
}

/** Sets the changeable entry's quantity. @returns its new ETag */
export async function setQuantity(target: ConformanceTarget, quantity: number): Promise<string> {
  const { changeablePetId } = target.fixtures;
  const response = await sendUpdate(target, changeablePetId, `{"quantity":${quantity}}`);
  expectSuccess(response, 'updateInventory');
  return response.headers.get('ETag') ?? '';
}

/** Restores the changeable entry after each test of the surrounding group. */
export function restoreEntryAfterEach(target: TargetSource): void {
  afterEach(async () => {
    await setQuantity(target(), changeableEntry(target().fixtures).quantity);
  });
}
