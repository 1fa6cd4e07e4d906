import type { KeyRegister, RetiredKey } from '../../../shared/keys/keyRegister.ts';
import type { KeyRecord } from '../../../shared/keys/keyStore.ts';
import { confirm } from '../../cli/confirm.ts';
import { toErrorLine } from '../../cli/errorLine.ts';
import { UsageError } from '../../cli/usage.ts';
import { type KeyOptions, parseGrace } from './keyOptions.ts';
import { toKeyStatus } from './keyStatus.ts';
import { findKey, type Print, toNewKeyText } from './keyText.ts';

/**
 * Makes a successor, shows it, and only then ends the old key: whatever fails, one of the two is at work
 * and in somebody's hands.
 * @throws {UsageError} when the key has ended or its record lacks something, or nobody is there to be asked
 * @throws {Error} when the old key could not be ended
 */
export async function rotateKey(
  register: KeyRegister,
  options: KeyOptions,
  keyId: string,
  print: Print,
): Promise<void> {
  const old = await findKey(register, keyId);
  const status = toKeyStatus(old, Date.now());
  if (status !== 'active' && status !== 'ending') {
    throw new UsageError(`The key ${keyId} is ${status}: make a new one with create.`);
  }
  if (!old.name || Number.isNaN(Date.parse(old.createdAt))) {
    throw new UsageError(
      `The key ${keyId} lacks a name or a time of creation: make a new one with create.`,
    );
  }
  const question = await toQuestion(register, old, parseGrace(options));
  if (question && !options.yes && !(await confirm(question))) return print('Nothing was changed.');

  const successor = await register.succeed(old);
  const successorId = successor.record.keyId;
  const done = `Made the key ${successorId}, the successor of ${keyId} (${old.name}).`;
  let retired: RetiredKey;
  try {
    await print(toNewKeyText(successor, options, done));
    retired = await register.retire(keyId, successorId, parseGrace(options));
  } catch (error) {
    throw new Error(
      `The old key ${keyId} could not be ended, so both it and its successor ${successorId} work. With the successor in use, revoke the old one; if the successor was not shown, revoke that. The cause: ${toErrorLine(error)}`,
    );
  }
  const { ends, before } = retired;
  const isOver = Date.parse(ends) <= Date.now();
  const end = isOver ? 'has ended: within a minute nothing lets it in' : `works until ${ends}`;
  if (!options.json) await print(`The old key ${keyId} ${end}.`);
  const warning = toWarning(old, before, successorId);
  if (warning) process.stderr.write(`${warning}\n`);
}

/** What somebody else did to the key while its successor was made, if anything. */
function toWarning(old: KeyRecord, before: KeyRecord, successorId: string): string | undefined {
  // The SDK repeats an update whose answer was lost, and then finds its own.
  if (before.successorId === successorId) return undefined;
  if (before.successorId !== old.successorId) {
    return `Somebody else rotated the key ${old.keyId} in the meantime: beside ${successorId} it has the successor ${before.successorId}. Revoke the one that nobody uses.`;
  }
  if (before.revokedAt === old.revokedAt) return undefined;
  return `Somebody else revoked the key ${old.keyId} in the meantime. Its successor ${successorId} works: revoke it too if nobody is to use it.`;
}

/** What has to be answered first, if anything. */
async function toQuestion(
  register: KeyRegister,
  old: KeyRecord,
  graceMilliseconds: number,
): Promise<string | undefined> {
  const { keyId, name, permission } = old;
  const warning = await findSuccessor(register, old);
  if (graceMilliseconds === 0) {
    return `${warning}Without a grace, the key ${keyId} (${name}, ${permission}) ends for good as soon as its successor is made. Rotate it?`;
  }
  return warning && `${warning}Make another one?`;
}

/** A key that is rotated twice leaves two successors, of which one may be in nobody's hands. */
async function findSuccessor(
  register: KeyRegister,
  { keyId, name, rotatedAt, successorId }: KeyRecord,
): Promise<string> {
  if (rotatedAt === undefined) return '';
  const successor = successorId === undefined ? undefined : await register.get(successorId);
  const status = successor && toKeyStatus(successor, Date.now());
  if (status !== undefined && status !== 'active' && status !== 'ending') return '';
  return `The key ${keyId} was rotated already, at ${rotatedAt}; its successor ${successorId ?? `(see list, named ${name})`} works. `;
}
