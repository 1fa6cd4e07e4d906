import { mintApiKey } from '../../shared/keys/apiKey.ts';
import type { KeyRegister } from '../../shared/keys/keyRegister.ts';

/** One key id for every start: the new key takes the place of the last one. */
const KEY_ID = 'localstage';

/** Whether an earlier run got as far as making its key, which is its last step before it serves. */
export async function hasLocalKey(keys: KeyRegister): Promise<boolean> {
  return (await keys.get(KEY_ID)) !== undefined;
}

/** Makes the key with write permission, and returns it. */
export async function replaceLocalKey(keys: KeyRegister): Promise<string> {
  const { keyId, apiKey, secretHash } = mintApiKey(KEY_ID);
  await keys.put({
    keyId,
    secretHash,
    name: 'local stage',
    permission: 'write',
    createdAt: new Date().toISOString(),
  });
  return apiKey;
}
