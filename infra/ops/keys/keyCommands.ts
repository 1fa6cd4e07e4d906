import type { KeyRegister, RetiredKey } from '../../../shared/keys/keyRegister.ts';
import type { KeyRecord } from '../../../shared/keys/keyStore.ts';
import { confirm } from '../../cli/confirm.ts';
import { toErrorLine } from '../../cli/errorLine.ts';
import { tell } from '../../cli/output.ts';
import { UsageError } from '../../cli/usage.ts';
import {
  type KeyOptions,
  parseExpires,
  parseExpiring,
  parseGrace,
  parseName,
  parsePermission,
} from './keyOptions.ts';
import {
  filterEnding,
  findKey,
  type Print,
  toJsonText,
  toKeyStatus,
  toKeyTable,
  toNewKeyText,
  toPublicKey,
} from './keyText.ts';

export interface KeyCommand {
  /** How it is called, after `npm run keys --`. */
  readonly usage: string;
  readonly summary: string;
  /** The options it takes beside those that say which table. */
  readonly options: readonly (keyof KeyOptions)[];
  readonly takesKeyId: boolean;
  /** Refuses nonsense before anything is read or written. @throws {UsageError} */
  check?(options: KeyOptions): void;
  run(register: KeyRegister, options: KeyOptions, keyId: string, print: Print): Promise<void>;
}

export const keyCommands: Record<string, KeyCommand> = {
  create: {
    usage: 'create --name NAME --permission read|write [--expires 90d|2027-01-31] [--json]',
    summary:
      'Makes a key and prints it, once. It ends never, after a time, at 0:00 UTC of a day,\nor at a time such as 2027-01-31T18:00:00Z.',
    options: ['name', 'permission', 'expires', 'json'],
    takesKeyId: false,
    check(options) {
      parseName(options);
      parsePermission(options);
      parseExpires(options);
    },
    async run(register, options, _, print) {
      const key = await register.create({
        name: parseName(options),
        permission: parsePermission(options),
        expiresAt: parseExpires(options),
      });
      const { keyId } = key.record;
      try {
        await print(toNewKeyText(key, options, `Made the key ${keyId}.`));
      } catch (error) {
        throw new Error(
          `The key ${keyId} was made and could not be shown: revoke it. The cause: ${toErrorLine(error)}`,
        );
      }
    },
  },

  list: {
    usage: 'list [--expiring 14d] [--json]',
    summary:
      'Lists every key with its successor, oldest first; or those that end within a time,\nthe next to end first.',
    options: ['expiring', 'json'],
    takesKeyId: false,
    check: parseExpiring,
    async run(register, options, _, print) {
      const now = Date.now();
      const within = parseExpiring(options);
      const all = await register.list();
      const records = within === undefined ? all : filterEnding(all, within, now);
      if (options.json) {
        return print(toJsonText(records.map((record) => toPublicKey(record, now))));
      }
      const none =
        within === undefined ? 'There are no keys.' : `No key ends within ${options.expiring}.`;
      await print(records.length > 0 ? toKeyTable(records, now) : none);
    },
  },

  show: {
    usage: 'show KEY_ID [--json]',
    summary: 'Shows one key; its secret is kept nowhere.',
    options: ['json'],
    takesKeyId: true,
    async run(register, { json }, keyId, print) {
      const shown = toPublicKey(await findKey(register, keyId), Date.now());
      const lines = Object.entries(shown).map(([name, value]) => `${name.padEnd(12)}${value}`);
      await print(json ? toJsonText(shown) : lines.join('\n'));
    },
  },

  rotate: {
    usage: 'rotate KEY_ID [--grace 24h] [--yes] [--json]',
    summary:
      'Makes a successor and prints it, once; the old key works on for the grace. Asks first\nwhere that is 0s, or where a successor is at work already.',
    options: ['grace', 'yes', 'json'],
    takesKeyId: true,
    check: parseGrace,
    run: rotateKey,
  },

  revoke: {
    usage: 'revoke KEY_ID [--yes]',
    summary: 'Ends a key for good, within a minute; asks first.',
    options: ['yes'],
    takesKeyId: true,
    async run(register, { yes }, keyId, print) {
      const record = await findKey(register, keyId);
      const { name = '-', permission = '-', revokedAt } = record;
      if (toKeyStatus(record, Date.now()) === 'revoked') {
        return print(`The key ${keyId} (${name}) was revoked already, at ${revokedAt}.`);
      }
      const question = `Revoke the key ${keyId} (${name}, ${permission}) for good?`;
      if (!yes && !(await confirm(question))) return print('Nothing was changed.');
      await register.revoke(keyId);
      await print(`Revoked the key ${keyId} (${name}); within a minute nothing lets it in.`);
    },
  },
};

/**
 * Makes a successor, shows it, and only then ends the old key: whatever fails, one of the two is at work
 * and in somebody's hands.
 * @throws {UsageError} when the key has ended or its record lacks something, or nobody is there to be asked
 * @throws {Error} when the old key could not be ended
 */
async function rotateKey(
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
  if (warning) tell(warning);
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
