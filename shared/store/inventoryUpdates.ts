import { createHash } from 'node:crypto';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { PreconditionFailed, StoreUnavailable } from '../contract/errors/errors.ts';
import { entryPetId } from '../contract/parameters/petIds.ts';
import type { InventoryItem } from '../contract/schemas/inventory.ts';
import { isKeyed, newVersion, toKeyedVersion, VERSION_BYTES } from './inventoryRecord.ts';
import { pause } from './pause.ts';
import { type AnsweredRequest, defineRequestStore } from './requestStore.ts';
import { type Conflict, toOnly, type Update, updateEntry } from './updateEntry.ts';

export interface InventoryEntry {
  readonly item: InventoryItem;
  /** Names this state of the entry; opaque outside of the store. */
  readonly version: string;
}

export interface InventoryUpdates {
  /**
   * Sets the stock count of an entry that exists; where versions are given, only of one that is in one
   * of those states.
   * @param idempotencyKey names the request among all that were ever sent: the same one again, within 24
   *   hours, has no second effect and gets the answer of the first that succeeded
   * @throws {NotFound} when there is no such entry
   * @throws {PreconditionFailed} when there is, in another state, and this request changed nothing
   * @throws {StoreUnavailable} also when it cannot be told whether this request changed the entry
   */
  setQuantity(update: Update, idempotencyKey?: string): Promise<InventoryEntry>;
}

/** How often, and how many milliseconds apart, an answer is looked for that is being written down. */
const LOOKS = 4;
const PAUSE = 40;
/** Updates of an entry since one's own, past which that is no longer looked for. */
const MOST_STEPS = 200;

/** @param requestsTable where the answers to requests with an idempotency key are kept */
export function defineInventoryUpdates(
  client: DynamoDBClient,
  tableName: string,
  requestsTable: string,
): InventoryUpdates {
  const requests = defineRequestStore(client, requestsTable);

  /** One write, and where its condition fails one read. */
  async function setOnce(update: Update): Promise<InventoryEntry> {
    const version = newVersion();
    const outcome = await updateEntry(client, tableName, update, version);
    if (outcome.kind === 'updated') return { item: outcome.item, version };
    throw outcome.isCertain ? toConflict(update, outcome) : toUnknown();
  }

  /**
   * Two writes: the update, whose version is made of the request, and then its answer, kept under that
   * version with the one that it took the place of. So a repeated request finds its first answer, and
   * where that was never written down, the updates since then lead back to it.
   */
  async function setIdempotently(update: Update, idempotencyKey: string): Promise<InventoryEntry> {
    const { petId, quantity, versions } = update;
    const { version, fingerprint } = toFingerprint(update, idempotencyKey);

    async function recall(): Promise<InventoryEntry | undefined> {
      const known = await requests.find(petId, version);
      return known?.fingerprint === fingerprint ? { item: known.item, version } : undefined;
    }

    async function answer(item: InventoryItem, replaced?: string): Promise<InventoryEntry> {
      await requests.put({ fingerprint, item, replaced });
      return { item, version };
    }

    const known = versions ? undefined : await recall();
    if (known) return known;
    const outcome = await updateEntry(client, tableName, update, version);
    if (outcome.kind === 'updated') return answer(outcome.item, outcome.replaced);
    const answered = await recall();
    if (answered) return answered;
    switch (await trace(update, outcome.current, version)) {
      case 'happened':
        return answer({ petId, quantity, status: outcome.status }, toOnly(versions));
      case 'never happened':
        throw toConflict(update, outcome);
      case 'untraceable':
        throw outcome.isCertain ? toConflict(update, outcome) : toUnknown();
      default:
        throw toUnknown();
    }
  }

  /** Whether an update happened, by way of those that came after it. */
  async function trace({ petId, versions }: Update, current: string, own: string) {
    let version = current;
    for (let step = 0; step < MOST_STEPS && isKeyed(version); step += 1) {
      const request = await findSoon(petId, version);
      if (!request) return 'being written down';
      if (request.replaced === own) return 'happened';
      if (request.replaced === undefined) break;
      if (versions?.includes(request.replaced)) return 'never happened';
      version = request.replaced;
    }
    return 'untraceable';
  }

  async function findSoon(petId: bigint, version: string): Promise<AnsweredRequest | undefined> {
    for (let look = 1; ; look += 1) {
      const found = await requests.find(petId, version);
      if (found || look === LOOKS) return found;
      await pause(PAUSE);
    }
  }

  return {
    setQuantity: (update, idempotencyKey) =>
      idempotencyKey === undefined ? setOnce(update) : setIdempotently(update, idempotencyKey),
  };
}

/** The same request has the same fingerprint, which begins with the version that its update gives. */
function toFingerprint({ petId, quantity, versions }: Update, idempotencyKey: string) {
  const request = JSON.stringify([idempotencyKey, `${petId}`, quantity, versions ?? null]);
  const hash = createHash('sha256').update(request).digest();
  const version = toKeyedVersion(hash.subarray(0, VERSION_BYTES));
  return {
    version,
    fingerprint: `${version}.${hash.subarray(VERSION_BYTES, 20).toString('base64url')}`,
  };
}

function toConflict({ petId }: Update, { current }: Conflict): PreconditionFailed {
  return new PreconditionFailed(entryPetId, petId, current);
}

function toUnknown(): StoreUnavailable {
  return new StoreUnavailable(
    new Error('An update was not answered, and others came after it: it may have happened.'),
  );
}
