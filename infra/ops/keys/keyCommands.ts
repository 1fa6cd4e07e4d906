import type { Permission } from '../../../shared/contract/operation.ts';
import type { KeyRegister, RetiredKey } from '../../../shared/keys/keyRegister.ts';
import type { KeyRecord } from '../../../shared/keys/keyStore.ts';
import { confirm } from '../../cli/confirm.ts';
import { toErrorLine } from '../../cli/errorLine.ts';
import { tell } from '../../cli/output.ts';
import { parseDuration, parseInstant } from '../../cli/time.ts';
import { UsageError } from '../../cli/usage.ts';
import {
  filterEnding,
  isAtWork,
  toJsonText,
  toKeyStatus,
  toKeyTable,
  toNewKeyText,
  toPublicKey,
} from './keyText.ts';

/** The options of a key command, as typed. */
export interface KeyOptions {
  readonly name?: string | undefined;
  readonly permission?: string | undefined;
  readonly expires?: string | undefined;
  readonly expiring?: string | undefined;
  readonly grace?: string | undefined;
  readonly json?: boolean | undefined;
  readonly yes?: boolean | undefined;
}

/** Comes back once the text, of a line or more, is out. @throws when it cannot be written */
type Print = (text: string) => Promise<void>;

export interface KeyCommand {
  /** How it is called, after `npm run keys --`. */
  readonly usage: string;
  readonly summary: string;
  /** The options it takes beside those that say which table. */
  readonly options: readonly (keyof KeyOptions)[];
  readonly takesKeyId: boolean;
  /**
   * What it does, once all that was typed makes sense.
   * @throws {UsageError} before anything is read or written
   */
  prepare(
    options: KeyOptions,
    keyId: string,
  ): (register: KeyRegister, print: Print) => Promise<void>;
}

export const keyCommands: Readonly<Record<string, KeyCommand>> = {
  create: {
    usage: 'create --name NAME --permission read|write [--expires 90d|2027-01-31] [--json]',
    summary:
      'Makes a key and prints it, once. It ends never, after a time, at 0:00 UTC of a day,\nor at a time such as 2027-01-31T18:00:00Z.',
    options: ['name', 'permission', 'expires', 'json'],
    takesKeyId: false,
    prepare(options) {
      const name = parseName(options);
      const permission = parsePermission(options);
      const expiresAt = parseExpires(options);
      return async (register, print) => {
        const key = await register.create({ name, permission, expiresAt });
        const { keyId } = key.record;
        try {
          await print(toNewKeyText(key, options.json, `Made the key ${keyId}.`));
        } catch (error) {
          throw new Error(
            `The key ${keyId} was made and could not be shown: revoke it. The cause: ${toErrorLine(error)}`,
          );
        }
      };
    },
  },

  list: {
    usage: 'list [--expiring 14d] [--json]',
    summary:
      'Lists every key with its successor, oldest first; or those that end within a time,\nthe next to end first.',
    options: ['expiring', 'json'],
    takesKeyId: false,
    prepare({ expiring, json }) {
      const within = expiring === undefined ? undefined : parseDuration('--expiring', expiring);
      return async (register, print) => {
        const now = Date.now();
        const all = await register.list();
        const records = within === undefined ? all : filterEnding(all, within, now);
        if (json) return print(toJsonText(records.map((record) => toPublicKey(record, now))));
        const none =
          within === undefined ? 'There are no keys.' : `No key ends within ${expiring}.`;
        await print(records.length > 0 ? toKeyTable(records, now) : none);
      };
    },
  },

  show: {
    usage: 'show KEY_ID [--json]',
    summary: 'Shows one key; its secret is kept nowhere.',
    options: ['json'],
    takesKeyId: true,
    prepare: ({ json }, keyId) => {
      return async (register, print) => {
        const shown = toPublicKey(await findKey(register, keyId), Date.now());
        const lines = Object.entries(shown).map(([name, value]) => `${name.padEnd(12)}${value}`);
        await print(json ? toJsonText(shown) : lines.join('\n'));
      };
    },
  },

  rotate: {
    usage: 'rotate KEY_ID [--grace 24h] [--yes] [--json]',
    summary:
      'Makes a successor and prints it, once; the old key works on for the grace. Asks first\nwhere that is 0s, or where a successor is at work already.',
    options: ['grace', 'yes', 'json'],
    takesKeyId: true,
    prepare(options, keyId) {
      const grace = parseDuration('--grace', options.grace ?? '24h');
      return (register, print) => rotateKey(register, keyId, grace, options, print);
    },
  },

  revoke: {
    usage: 'revoke KEY_ID [--yes]',
    summary: 'Ends a key for good, within a minute; asks first.',
    options: ['yes'],
    takesKeyId: true,
    prepare: ({ yes }, keyId) => {
      return async (register, print) => {
        const record = await findKey(register, keyId);
        const { name = '-', permission = '-', revokedAt } = record;
        if (toKeyStatus(record, Date.now()) === 'revoked') {
          return print(`The key ${keyId} (${name}) was revoked already, at ${revokedAt}.`);
        }
        const question = `Revoke the key ${keyId} (${name}, ${permission}) for good?`;
        if (!yes && !(await confirm(question))) return print('Nothing was changed.');
        await register.revoke(keyId);
        await print(`Revoked the key ${keyId} (${name}); within a minute nothing lets it in.`);
      };
    },
  },
};

/** @throws {UsageError} when lists and logs could not show it */
function parseName({ name }: KeyOptions): string {
  if (name !== undefined && /^[\w.@-]{1,64}$/.test(name)) return name;
  throw new UsageError(
    '--name must be 1 to 64 letters, digits, dots, dashes, underscores or @, such as storefront-web.',
  );
}

function parsePermission({ permission }: KeyOptions): Permission {
  if (permission === 'read' || permission === 'write') return permission;
  throw new UsageError('--permission must be read or write; a browser gets read.');
}

/** No key is made for longer, so that a mistyped year is noticed. */
const MAX_YEARS = 10;

/** A day, which means its first moment in UTC, a time with its zone, or how long from now. */
function parseExpires({ expires }: KeyOptions): Date | undefined {
  if (expires === undefined) return undefined;
  const now = Date.now();
  const time = /^\d+[smhd]$/.test(expires)
    ? new Date(now + parseDuration('--expires', expires))
    : parseInstant(/^[\d-]{10}$/.test(expires) ? `${expires}T00:00:00Z` : expires);
  if (time === undefined) {
    throw new UsageError(
      `--expires must be a day such as 2027-01-31, a time with its zone such as 2027-01-31T18:00:00Z, or a duration such as 90d; it is "${expires}".`,
    );
  }
  const last = new Date(now);
  last.setUTCFullYear(last.getUTCFullYear() + MAX_YEARS);
  if (time.getTime() > now && time <= last) return time;
  throw new UsageError(
    `--expires must lie ahead, by at most ${MAX_YEARS} years; it is ${time.toISOString()}.`,
  );
}

async function findKey(register: KeyRegister, keyId: string): Promise<KeyRecord> {
  const record = await register.get(keyId);
  if (!record) throw new UsageError(`There is no key with the key id ${keyId}; see list.`);
  return record;
}

/**
 * Makes a successor, shows it, and only then ends the old key: whatever fails, one of the two is at work
 * and in somebody's hands.
 * @throws {UsageError} when the key has ended or its record lacks something, or nobody is there to be asked
 * @throws {Error} when the old key could not be ended
 */
async function rotateKey(
  register: KeyRegister,
  keyId: string,
  grace: number,
  { yes, json }: KeyOptions,
  print: Print,
): Promise<void> {
  const old = await findKey(register, keyId);
  if (!isAtWork(old)) {
    const status = toKeyStatus(old, Date.now());
    throw new UsageError(`The key ${keyId} is ${status}: make a new one with create.`);
  }
  if (!old.name || Number.isNaN(Date.parse(old.createdAt))) {
    throw new UsageError(
      `The key ${keyId} lacks a name or a time of creation: make a new one with create.`,
    );
  }
  const question = await toQuestion(register, old, grace);
  if (question && !yes && !(await confirm(question))) return print('Nothing was changed.');

  const successor = await register.succeed(old);
  const successorId = successor.record.keyId;
  const done = `Made the key ${successorId}, the successor of ${keyId} (${old.name}).`;
  let retired: RetiredKey;
  try {
    await print(toNewKeyText(successor, json, done));
    retired = await register.retire(keyId, successorId, grace);
  } catch (error) {
    throw new Error(
      `The old key ${keyId} could not be ended, so both it and its successor ${successorId} work. With the successor in use, revoke the old one; if the successor was not shown, revoke that. The cause: ${toErrorLine(error)}`,
    );
  }
  const { ends, before } = retired;
  const isOver = Date.parse(ends) <= Date.now();
  const end = isOver ? 'has ended: within a minute nothing lets it in' : `works until ${ends}`;
  if (!json) await print(`The old key ${keyId} ${end}.`);
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

/** What has to be answered first, if anything: two successors leave one that may be in nobody's hands. */
async function toQuestion(
  register: KeyRegister,
  { keyId, name, permission, rotatedAt, successorId }: KeyRecord,
  grace: number,
): Promise<string> {
  const successor = successorId === undefined ? undefined : await register.get(successorId);
  const hasOther = rotatedAt !== undefined && (!successor || isAtWork(successor));
  const warning = hasOther
    ? `The key ${keyId} was rotated already, at ${rotatedAt}; its successor ${successorId ?? `(see list, named ${name})`} works. `
    : '';
  if (grace > 0) return warning && `${warning}Make another one?`;
  return `${warning}Without a grace, the key ${keyId} (${name}, ${permission}) ends for good as soon as its successor is made. Rotate it?`;
}
