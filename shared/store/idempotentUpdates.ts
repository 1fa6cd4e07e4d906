import { createHash } from 'node:crypto';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { NotFound, PreconditionFailed, StoreUnavailable } from '../contract/errors/errors.ts';
import { isKeyed, toKeyedVersion, VERSION_BYTES } from './inventoryRecord.ts';
import { pause } from './pause.ts';
import type { AnsweredRequest, KnownRequest, RequestStore } from './requestStore.ts';
import {
  type Conflict,
  type InventoryEntry,
  toConflict,
  toOnly,
  toUnknown,
  type Update,
  updateEntry,
} from './updateEntry.ts';

/** An attempt of the same request is at work. */
const busy = { item: undefined };

type Answered = Pick<AnsweredRequest, 'item' | 'replaced'>;

/** How often, and how many milliseconds apart, an answer is looked for that is being written down. */
const LOOKS = 4;
const PAUSE = 40;
/** Longer than any attempt is at work: a function's 28 s, its last call's 3 s, and what clocks differ by. */
const MOST_MILLISECONDS = 35_000;
/** Updates of an entry since one's own, past which that is no longer looked for. */
const MOST_STEPS = 200;

/**
 * Makes an update of a request with an idempotency key, which has one effect however often it is sent.
 *
 * Three writes: a note that the request is at work, the update, whose version is made of the request, and
 * then its answer, kept under that version with the one that it took the place of. So a request that is
 * sent again finds its first answer, or that it is at work still; and where its answer was never written
 * down, the updates since then lead back to it.
 */
export function defineIdempotentUpdates(
  client: DynamoDBClient,
  tableName: string,
  requests: RequestStore,
) {
  async function setIdempotently(update: Update, idempotencyKey: string): Promise<InventoryEntry> {
    const { petId } = update;
    const { version, fingerprint } = toFingerprint(update, idempotencyKey);
    const earlier = await beginSoon(petId, version, fingerprint);
    if (earlier?.item) return { item: earlier.item, version };
    if (earlier === busy) return answer(await findBusy(update, version));
    try {
      return await answer(await setOrFind(update, version, earlier !== undefined));
    } catch (error) {
      await noteEnd(petId, fingerprint, error);
      throw error;
    }

    async function answer(answered: Answered): Promise<InventoryEntry> {
      await requests.put({ fingerprint, ...answered });
      return { item: answered.item, version };
    }
  }

  /**
   * Notes that the request is at work, once no other attempt of it is.
   * @returns what is known of it: its answer, or that an attempt ended of which nobody knows the effect; or
   *   `busy`, while another attempt is at work
   */
  async function beginSoon(
    petId: bigint,
    version: string,
    fingerprint: string,
  ): Promise<KnownRequest | typeof busy | undefined> {
    for (let look = 1; ; look += 1) {
      const known = await requests.begin(petId, version, fingerprint);
      if (!known) return undefined;
      if (known.fingerprint !== fingerprint) throw toUnknown();
      if (known.item) return known;
      if (known.attempt + MOST_MILLISECONDS < Date.now()) {
        const other = await requests.begin(petId, version, fingerprint, known.attempt);
        if (!other) return known;
      }
      if (look === LOOKS) return busy;
      await pause(PAUSE * 2 ** look);
    }
  }

  /**
   * The effect of an attempt that may be at work still, where it is there to be seen.
   * @throws {StoreUnavailable} where it is not
   */
  async function findBusy(update: Update, version: string): Promise<Answered> {
    const done = await findDone(update, version).catch((error: unknown) => {
      if (error instanceof NotFound) return undefined;
      throw error;
    });
    if (done) return done;
    throw new StoreUnavailable(new Error('The same request is at work already.'));
  }

  /** What an update did that may have happened before, where that can be told. */
  async function findDone(update: Update, version: string): Promise<Answered | undefined> {
    // Changes nothing: only an entry in the state that this update gives is set to that state.
    const own = { ...update, versions: [version] };
    const outcome = await updateEntry(client, tableName, own, version);
    if (outcome.kind === 'updated') {
      return { item: outcome.item, replaced: toOnly(update.versions) };
    }
    const isDone = (await trace(update, outcome.current, version)) === 'happened';
    return isDone ? toDone(update, outcome) : undefined;
  }

  /** @param isRepeated whether the update may have happened before: then it is looked for first */
  async function setOrFind(
    update: Update,
    version: string,
    isRepeated: boolean,
  ): Promise<Answered> {
    // Where an update asks nothing of the entry's state, its condition would not tell that it is done already.
    const done = isRepeated && !update.versions ? await findDone(update, version) : undefined;
    if (done) return done;
    const outcome = await updateEntry(client, tableName, update, version);
    if (outcome.kind === 'updated') return { item: outcome.item, replaced: outcome.replaced };
    switch (await trace(update, outcome.current, version)) {
      case 'happened':
        return toDone(update, outcome);
      case 'never happened':
        throw toConflict(update, outcome);
      case 'untraceable':
        throw outcome.isCertain && !isRepeated ? toConflict(update, outcome) : toUnknown();
      default:
        throw toUnknown();
    }
  }

  /** For the next attempt. Where it cannot be noted, that one waits until this one's time is over. */
  async function noteEnd(petId: bigint, fingerprint: string, error: unknown): Promise<void> {
    const isRefused = error instanceof NotFound || error instanceof PreconditionFailed;
    try {
      await requests.end(petId, fingerprint, isRefused ? 'withoutEffect' : 'unknown');
    } catch {
      // What went wrong at first is what the client and the log are told.
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

  async function findSoon(petId: bigint, version: string): Promise<KnownRequest | undefined> {
    for (let look = 1; ; look += 1) {
      const found = await requests.find(petId, version);
      if (found?.item || look === LOOKS) return found?.item && found;
      await pause(PAUSE);
    }
  }

  return setIdempotently;
}

/** What an update did that others came after. */
function toDone({ petId, quantity, versions }: Update, { status }: Conflict): Answered {
  return { item: { petId, quantity, status }, replaced: toOnly(versions) };
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
