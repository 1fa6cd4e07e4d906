import type { Permission } from '../../shared/contract/operation.ts';
import { mintApiKey } from '../../shared/keys/apiKey.ts';
import type { KeyRegister } from '../../shared/keys/keyRegister.ts';

/** One key id for every start: the new key takes the place of the last one. */
const keyIds: Record<Permission, string> = { read: 'localreads', write: 'localstage' };

/** Whether an earlier run got as far as making its write key, which is its last step before it serves. */
export async function hasLocalKey(keys: KeyRegister): Promise<boolean> {
  return (await keys.get(keyIds.write)) !== undefined;
}

/** Makes the key with a permission, and returns it. */
export async function replaceLocalKey(keys: KeyRegister, permission: Permission): Promise<string> {
  const { keyId, apiKey, secretHash } = mintApiKey(keyIds[permission]);
  const createdAt = new Date().toISOString();
  await keys.put({ keyId, secretHash, name: `local ${permission}`, permission, createdAt });
  return apiKey;
}
