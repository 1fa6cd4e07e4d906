import { findKeyStatus, type KeyRegister } from '../../../shared/keys/keyRegister.ts';
import type { KeyRecord } from '../../../shared/keys/keyStore.ts';
import { ask, readHiddenLine } from '../../cli/confirm.ts';
import { log, toColumns, toShortTime } from '../../cli/output.ts';
import { UsageError } from '../../cli/usage.ts';

/**
 * The record of a key by the key itself, its id or its name; `-` reads one of them from standard input. If several
 * working keys have the name, asks which. Messages never repeat the text: it may be a key with a typing error.
 * @throws {UsageError} when there is no such key, or nobody is there to choose one
 */
export async function findKey(register: KeyRegister, typed = ''): Promise<KeyRecord> {
  const prompt = 'Paste the key, its key id or its name, and press Enter; it is not shown:';
  const text = typed === '-' ? await readHiddenLine(prompt) : typed.trim();
  const [, keyId = text] = /^psk_([0-9A-Za-z]{10})/.exec(text) ?? [];
  const record = /^[0-9A-Za-z]{10}$/.test(keyId) ? await register.get(keyId) : undefined;
  if (record) return record;
  const now = Date.now();
  const named = (await register.list()).filter(({ name }) => name !== '' && name === text);
  const working = named.filter((one) => !['revoked', 'expired'].includes(findKeyStatus(one, now)));
  const [only, ...others] = working.length > 0 ? working : named;
  if (!only) throw new UsageError('No key has this key id or name; see list.');
  if (others.length === 0) return only;
  if (working.length === 0)
    throw new UsageError('Every key with this name is expired or revoked; see list.');
  return choose(working, now);
}

async function choose(records: readonly KeyRecord[], now: number): Promise<KeyRecord> {
  const problem = `${records.length} working keys have this name`;
  if (!process.stdin.isTTY) {
    const ids = records.map(({ keyId }) => keyId).join(', ');
    throw new UsageError(`${problem}: ${ids}. Give the key id of one; list shows more of each.`);
  }
  log(`${problem}:\n${listKeys(records, now)}`);
  const reply = await ask('Type the key id of one:');
  const chosen = records.find(({ keyId }) => keyId === reply);
  if (!chosen) throw new UsageError('That is none of these key ids: nothing was changed.');
  return chosen;
}

/** One line for each key, with a dash for what its record lacks. */
export function listKeys(records: readonly KeyRecord[], now: number): string {
  const header = 'KEY ID,NAME,PERMISSION,STATUS,CREATED,EXPIRES,REVOKED,SUCCESSOR'.split(',');
  const rows = records.map((record) => [
    record.keyId,
    record.name || '-',
    record.permission || '-',
    findKeyStatus(record, now),
    ...[record.createdAt, record.expiresAt, record.revokedAt].map(toShortTime),
    record.successorId ?? '-',
  ]);
  return toColumns([header, ...rows]);
}
