import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Draw } from '../../support/testCommand.ts';
import type { Run } from './client.ts';

/** Entries of `infra/local/sample.json` that are available, beside those of the checker: their counts recur. */
const petIds = ['7', '9'] as const;

interface Change {
  readonly deltas: readonly (readonly [petId: string, delta: number])[];
  readonly key: string;
  /** Of an update to what the entry then has; without it, it is an adjustment. */
  readonly ifMatch?: string;
  /** The update's count. */
  readonly quantity?: number;
  /** The statuses of its responses. */
  readonly statuses: number[];
}

/** All changes of the entries by any seller. */
export type Ledger = Change[];

interface SellerOptions {
  readonly run: () => Promise<Run>;
  readonly ledger: Ledger;
  readonly draw: Draw;
  /** When the run is over, by `performance.now()`. */
  readonly end: number;
}

/** Sells and returns pieces of one or two pets, and updates them with `If-Match`, all with keys and aborts. */
export async function runSeller({ run, ledger, draw, end }: SellerOptions): Promise<void> {
  while (performance.now() < end) {
    const change = await randomChange(run, draw);
    if (change) {
      ledger.push(change);
      for (let attempt = 1; attempt <= 6 && change.statuses.length === 0; attempt += 1) {
        // Sometimes it is sent twice at once, and aborted.
        const times = draw() < 0.1 ? 2 : 1;
        const sent = Array.from({ length: times }, () => {
          return perform(run, change, draw() < 0.1 ? Math.ceil(draw() * 25) : undefined);
        });
        await Promise.all(sent);
      }
      if (draw() < 0.1) await perform(run, change);
    }
    await pause(draw() * 10);
  }
}

async function randomChange(run: () => Promise<Run>, draw: Draw): Promise<Change | undefined> {
  const randomDelta = () => Math.ceil(draw() * 3) * (draw() < 0.5 ? -1 : 1);
  const change = { key: randomUUID(), statuses: [] };
  if (draw() < 0.7) {
    const chosen = draw() < 0.5 ? petIds : [petIds[draw() < 0.5 ? 0 : 1]];
    return { ...change, deltas: chosen.map((petId) => [petId, randomDelta()] as const) };
  }
  const petId = petIds[draw() < 0.5 ? 0 : 1];
  const entry = await readEntry(run, petId).catch(() => undefined);
  if (!entry) return undefined;
  const quantity = Math.max(0, entry.quantity + randomDelta());
  const deltas = [[petId, quantity - entry.quantity]] as const;
  return { ...change, deltas, ifMatch: entry.etag, quantity };
}

async function readEntry(run: () => Promise<Run>, petId: string) {
  const { baseUrl, apiKey } = await run();
  const headers = { Authorization: `Bearer ${apiKey}` };
  const response = await fetch(`${baseUrl}/inventory/${petId}`, { headers });
  const { quantity } = (await response.json()) as { quantity: number };
  return { quantity, etag: response.headers.get('etag') ?? '' };
}

/** Sends a change, and adds the status of its response, unless that is unknown. */
async function perform(run: () => Promise<Run>, change: Change, cutAfter?: number): Promise<void> {
  const { baseUrl, apiKey } = await run();
  const { deltas, key, ifMatch, quantity, statuses } = change;
  const isUpdate = ifMatch !== undefined;
  const adjustments = deltas.map(([petId, delta]) => ({ petId: Number(petId), delta }));
  const path = isUpdate ? deltas[0]?.[0] : 'adjustments';
  const response = await fetch(`${baseUrl}/inventory/${path}`, {
    method: isUpdate ? 'PATCH' : 'POST',
    headers: {
      Authorization: `Bearer ${apiKey}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': key,
      ...(isUpdate && { 'If-Match': ifMatch }),
    },
    body: JSON.stringify(isUpdate ? { quantity } : { adjustments }),
    signal: cutAfter === undefined ? null : AbortSignal.timeout(cutAfter),
  }).catch(() => undefined);
  if (!response || response.status >= 500) return;
  if (![200, isUpdate ? 412 : 409].includes(response.status)) {
    throw new Error(`${JSON.stringify(change)} got ${response.status}: ${await response.text()}`);
  }
  statuses.push(response.status);
  await response.text().catch(() => {});
}

export type Counts = ReadonlyMap<string, number>;

export async function readCounts(run: () => Promise<Run>): Promise<Counts> {
  const counts = new Map<string, number>();
  for (const petId of petIds) counts.set(petId, (await readEntry(run, petId)).quantity);
  return counts;
}

/** Sends each change once more, so that its outcome is known. */
export async function settle(run: () => Promise<Run>, ledger: Ledger): Promise<void> {
  for (const change of ledger) await perform(run, change);
}

/** @returns what is wrong with the counts at the end, or with the outcomes of a key */
export function findLedgerProblems(ledger: Ledger, before: Counts, after: Counts): string[] {
  const sold = ledger
    .filter(({ statuses }) => statuses.includes(200))
    .flatMap(({ deltas }) => deltas);
  const counts = petIds.flatMap((petId) => {
    const own = sold.flatMap(([id, delta]) => (id === petId ? delta : []));
    const expected = own.reduce((sum, delta) => sum + delta, before.get(petId) ?? 0);
    const found = after.get(petId);
    return found === expected ? [] : [`${petId}: ${found} pieces are left, not ${expected}.`];
  });
  const outcomes = ledger.flatMap((change) => {
    if (new Set(change.statuses).size === 1) return [];
    return [`A change has other than one outcome: ${JSON.stringify(change)}.`];
  });
  return [...counts, ...outcomes];
}
