import type { KeyRegister, NewKey } from '../../../shared/keys/keyRegister.ts';
import type { KeyRecord } from '../../../shared/keys/keyStore.ts';
import { UsageError } from '../../cli/usage.ts';
import type { KeyOptions } from './keyOptions.ts';
import { toPublicKey } from './keyStatus.ts';

/** Comes back once the text, of a line or more, is out. @throws when it cannot be written */
export type Print = (text: string) => Promise<void>;

/** The key goes out alone on a line of its own, so that it can be copied, or read by a machine. */
export function toNewKeyText(
  { apiKey, record }: NewKey,
  { json }: KeyOptions,
  done: string,
): string {
  if (json) return toJsonText({ ...toPublicKey(record, Date.now()), apiKey });
  return `${done} This is the only time it is shown:\n${apiKey}`;
}

export function toJsonText(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

/** @throws {UsageError} when there is no such key */
export async function findKey(register: KeyRegister, keyId: string): Promise<KeyRecord> {
  const record = await register.get(keyId);
  if (!record) throw new UsageError(`There is no key with the key id ${keyId}; see list.`);
  return record;
}
