import { isReadable, type KeyRecord } from '../../../shared/keys/keyStore.ts';
import { toColumns, toShortTime } from '../../cli/output.ts';

type KeyStatus = 'active' | 'ending' | 'expired' | 'revoked' | 'unreadable';

/**
 * The status of a key at a time, in milliseconds since the epoch. `ending` will be revoked. `unreadable` is refused,
 * since these commands do not write such a record.
 */
export function toKeyStatus(record: KeyRecord, now: number): KeyStatus {
  if (!isReadable(record)) return 'unreadable';
  const { revokedAt, expiresAt } = record;
  if (revokedAt !== undefined && Date.parse(revokedAt) <= now) return 'revoked';
  if (expiresAt !== undefined && Date.parse(expiresAt) <= now) return 'expired';
  return revokedAt === undefined ? 'active' : 'ending';
}

export function isAtWork(record: KeyRecord): boolean {
  return ['active', 'ending'].includes(toKeyStatus(record, Date.now()));
}

/** The working keys that end within the time, the next first. */
export function filterEnding(
  records: readonly KeyRecord[],
  milliseconds: number,
  now: number,
): KeyRecord[] {
  return records
    .filter((record) => now < toEnd(record) && toEnd(record) <= now + milliseconds)
    .sort((one, other) => toEnd(one) - toEnd(other));
}

/** A key's record without the hash of its secret. */
export function toPublicKey(record: KeyRecord, now: number): Record<string, string> {
  const { secretHash, ...shown } = record;
  return { ...shown, status: toKeyStatus(record, now) };
}

/** One line for each key, with a dash for what its record lacks. */
export function toKeyTable(records: readonly KeyRecord[], now: number): string {
  const header = 'KEY ID,NAME,PERMISSION,STATUS,CREATED,EXPIRES,REVOKED,SUCCESSOR'.split(',');
  const rows = records.map((record) => [
    record.keyId,
    record.name || '-',
    record.permission || '-',
    toKeyStatus(record, now),
    ...[record.createdAt, record.expiresAt, record.revokedAt].map(toShortTime),
    record.successorId ?? '-',
  ]);
  return toColumns([header, ...rows]);
}

/** When a key ends, in milliseconds since the epoch; infinite if it never ends. */
function toEnd({ revokedAt, expiresAt }: KeyRecord): number {
  const ends = [revokedAt, expiresAt].filter((time) => time !== undefined);
  return Math.min(...ends.map((time) => Date.parse(time)));
}
