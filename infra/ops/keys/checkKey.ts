import { PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { matchesSecretHash, parseApiKey } from '../../../shared/keys/apiKey.ts';
import { hideSecrets } from '../../../shared/keys/hideSecrets.ts';
import { findKeyStatus, type KeyRegister } from '../../../shared/keys/keyRegister.ts';
import { toErrorLine } from '../../cli/errorLine.ts';
import { readParameter } from '../../cli/parameterStore.ts';
import type { StageStack } from '../../cli/stageStack.ts';
import { CHECK_KEY, toNames } from '../../stages/resourceNames.ts';

/** The read key of a stage's checks in Parameter Store, if there is one. */
export function readCheckKey(stack: StageStack): Promise<string | undefined> {
  return readParameter(stack, toNames(stack.stage).checkKeyParameter);
}

/**
 * Makes a read key for a stage's checks, unless they have one that works.
 * @returns what was done, without the key
 * @throws {Error} when the new key could not be stored
 */
export async function provideCheckKey(stack: StageStack, register: KeyRegister): Promise<string> {
  const { stage, open } = stack;
  const parameter = toNames(stage).checkKeyParameter;
  const found = parseApiKey((await readCheckKey(stack)) ?? '');
  if (found && (await isUsable(register, found))) {
    return `The key ${found.keyId} in ${parameter} works: nothing was changed.`;
  }
  const { apiKey, record } = await register.create({ name: CHECK_KEY, permission: 'read' });
  const { keyId } = record;
  const value = { Value: apiKey, Type: 'SecureString', Overwrite: true } as const;
  try {
    await open(SSMClient).send(new PutParameterCommand({ Name: parameter, ...value }));
  } catch (error) {
    await register.revoke(keyId).catch(() => {});
    // What AWS refuses, it may repeat.
    const cause = hideSecrets(toErrorLine(error));
    throw new Error(
      `The new key ${keyId} was not stored in ${parameter}. See in the list of the keys whether it is revoked. The cause: ${cause}`,
    );
  }
  return `Made the read key ${keyId}, named check, and stored it in ${parameter}.`;
}

/** Whether it is a read key that works, and that does not expire, as one does after a rotation. */
async function isUsable(
  register: KeyRegister,
  { keyId, secret }: { readonly keyId: string; readonly secret: string },
): Promise<boolean> {
  const record = await register.get(keyId);
  if (!record || findKeyStatus(record, Date.now()) !== 'active') return false;
  return record.permission === 'read' && matchesSecretHash(secret, record.secretHash);
}
