import type { NewKey } from '../../../shared/keys/keyRegister.ts';
import { isReadable, type KeyRecord } from '../../../shared/keys/keyStore.ts';
import { toColumns, toShortTime } from '../../cli/output.ts';

type KeyStatus = 'active' | 'ending' | 'expired' | 'revoked' | 'unreadable';

/**
 * Where a key stands at a time, in milliseconds since the epoch; `ending` has a revocation ahead of it, and
 * `unreadable` is refused, since its record is not as these commands write it.
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

/** Those at work that will not be once the time is over, the next to end first. */
export function filterEnding(
  records: readonly KeyRecord[],
  milliseconds: number,
  now: number,
): KeyRecord[] {
  return records
    .filter((record) => now < toEnd(record) && toEnd(record) <= now + milliseconds)
    .sort((one, other) => toEnd(one) - toEnd(other));
}

/** What may be shown of a key: all but the hash of its secret. */
export function toPublicKey(record: KeyRecord, now: number): Record<string, string> {
  const { secretHash, ...shown } = record;
  return { ...shown, status: toKeyStatus(record, now) };
}

/** For people: one line a key, with a dash for what its record lacks. */
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

/** The key and nothing else, for a variable of the shell; or its record beside it. */
export function toNewKeyText({ apiKey, record }: NewKey, asJson: boolean | undefined): string {
  return asJson ? toJsonText({ ...toPublicKey(record, Date.now()), apiKey }) : apiKey;
}

export function toJsonText(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

/** When a key ends, in milliseconds since the epoch; infinite where it does not. */
function toEnd({ revokedAt, expiresAt }: KeyRecord): number {
  const ends = [revokedAt, expiresAt].filter((time) => time !== undefined);
  return Math.min(...ends.map((time) => Date.parse(time)));
}
