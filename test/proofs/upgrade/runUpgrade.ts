import { type DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { petStatuses } from '../../../shared/contract/values.ts';
import { toInventoryRecord } from '../../../shared/store/inventoryRecord.ts';
import { type Case, stageCases, update } from './cases.ts';
import type { Release } from './release.ts';

/** The updates of an entry before its turn, each with a key or without. */
type Past = readonly (readonly [Release, key?: string])[];

/**
 * Runs each case with the releases in every order, after whatever either has done to the entry.
 * @returns the cases with their problems, which begin with the releases of the turn in their order
 */
export async function runUpgrade(
  cases: Record<string, Case>,
  last: Release,
  next: Release,
  engine: DynamoDBClient,
) {
  const once: Past[] = [[[last]], [[last, 'a']], [[next]], [[next, 'a']]];
  const twice: Past[] = [
    [[last], [next, 'a']],
    [[next], [last, 'a']],
  ];
  const pasts: Past[] = cases === stageCases ? [[]] : [[], ...once, ...twice];
  const orders = [last, next].flatMap((first) => [last, next].map((second) => ({ first, second })));
  let entries = 0;

  async function runTurn(check: Case, past: Past, order: (typeof orders)[number]) {
    entries += 1;
    const petId = FIRST_ID + BigInt(entries);
    const status = petStatuses[entries % petStatuses.length] ?? 'available';
    const Item = toInventoryRecord({ petId, quantity: 1_000_000 + entries, status });
    await engine.send(new PutItemCommand({ TableName: 'inventory', Item }));
    const turn = { ...order, apiKey: next.apiKey, petId };
    try {
      for (const [release, key] of past) {
        await update(turn, release, entries, key === undefined ? {} : { 'Idempotency-Key': key });
      }
      return await check(turn);
    } catch (error) {
      const releases = [...past.map(([release]) => release), order.first, order.second];
      const names = releases.map(({ name }) => name).join(', ');
      return new Error(`${names}: ${(error as Error).message.replaceAll(/\s+/g, ' ')}`);
    }
  }

  const results = [];
  for (const [name, check] of Object.entries(cases)) {
    const outcomes: unknown[] = [];
    for (const past of pasts) {
      for (const order of orders) outcomes.push(await runTurn(check, past, order));
    }
    const skipped = outcomes.filter((outcome) => outcome === 'skipped').length;
    const errors = outcomes.filter((outcome) => outcome instanceof Error);
    const problems = errors.map(({ message }) => `${name}: ${message}`);
    results.push({ name, turns: outcomes.length - skipped, skipped, problems });
  }
  return results;
}

/** Past 2^53, and past the sample's. */
const FIRST_ID = 2n ** 60n;
