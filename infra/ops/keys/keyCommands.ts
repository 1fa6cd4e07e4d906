import type { Permission } from '../../../shared/contract/operation.ts';
import type { KeyRegister, NewKey } from '../../../shared/keys/keyRegister.ts';
import type { KeyRecord } from '../../../shared/keys/keyStore.ts';
import { confirm } from '../../cli/confirm.ts';
import { parseDuration } from '../../cli/duration.ts';
import { UsageError } from '../../cli/usage.ts';
import { toKeyStatus, toKeyTable, toPublicKey } from './keyStatus.ts';

/** The options of a key command, as typed. */
export interface KeyOptions {
  readonly name?: string | undefined;
  readonly permission?: string | undefined;
  readonly expires?: string | undefined;
  readonly grace?: string | undefined;
  readonly json?: boolean | undefined;
  readonly yes?: boolean | undefined;
}

export interface KeyCommand {
  /** How it is called, after `npm run keys --`. */
  readonly usage: string;
  readonly summary: string;
  /** The options it takes beside those that say which table. */
  readonly options: readonly (keyof KeyOptions)[];
  readonly takesKeyId: boolean;
  /** Refuses nonsense before anything is read or written. @throws {UsageError} */
  check?(options: KeyOptions): void;
  /** Returns what to print. */
  run(register: KeyRegister, options: KeyOptions, keyId: string): Promise<string>;
}

export const keyCommands: Record<string, KeyCommand> = {
  create: {
    usage: 'create --name NAME --permission read|write [--expires 90d] [--json]',
    summary: 'Makes a key and prints it, once.',
    options: ['name', 'permission', 'expires', 'json'],
    takesKeyId: false,
    check(options) {
      parseName(options);
      parsePermission(options);
      parseExpires(options);
    },
    async run(register, options) {
      const key = await register.create({
        name: parseName(options),
        permission: parsePermission(options),
        expiresAt: parseExpires(options),
      });
      return toNewKeyText(key, options, `Made the key ${key.record.keyId}.`);
    },
  },

  list: {
    usage: 'list [--json]',
    summary: 'Lists every key, oldest first.',
    options: ['json'],
    takesKeyId: false,
    async run(register, { json }) {
      const records = await register.list();
      const now = Date.now();
      if (json) return toJsonText(records.map((record) => toPublicKey(record, now)));
      return records.length > 0 ? toKeyTable(records, now) : 'There are no keys.';
    },
  },

  show: {
    usage: 'show KEY_ID [--json]',
    summary: 'Shows one key; its secret is kept nowhere.',
    options: ['json'],
    takesKeyId: true,
    async run(register, { json }, keyId) {
      const shown = toPublicKey(await find(register, keyId), Date.now());
      if (json) return toJsonText(shown);
      return Object.entries(shown)
        .map(([name, value]) => `${name.padEnd(12)}${value}`)
        .join('\n');
    },
  },

  rotate: {
    usage: 'rotate KEY_ID [--grace 24h] [--json]',
    summary: 'Makes a successor and prints it, once; the old key works on for the grace.',
    options: ['grace', 'json'],
    takesKeyId: true,
    check: parseGrace,
    async run(register, options, keyId) {
      const old = await find(register, keyId);
      const status = toKeyStatus(old, Date.now());
      if (status !== 'active' && status !== 'ending') {
        throw new UsageError(`The key ${keyId} is ${status}: make a new one with create.`);
      }
      await warnOfSuccessor(register, old);
      const key = await register.rotate(old, parseGrace(options));
      const ends = (await find(register, keyId)).revokedAt;
      return toNewKeyText(
        key,
        options,
        `Made the key ${key.record.keyId}; the old key ${keyId} works until ${ends}.`,
      );
    },
  },

  revoke: {
    usage: 'revoke KEY_ID [--yes]',
    summary: 'Ends a key for good, within a minute; asks first.',
    options: ['yes'],
    takesKeyId: true,
    async run(register, { yes }, keyId) {
      const record = await find(register, keyId);
      if (toKeyStatus(record, Date.now()) === 'revoked') {
        return `The key ${keyId} (${record.name}) was revoked already, at ${record.revokedAt}.`;
      }
      const question = `Revoke the key ${keyId} (${record.name}, ${record.permission}) for good?`;
      if (!yes && !(await confirm(question))) return 'Nothing was changed.';
      await register.revoke(keyId);
      return `Revoked the key ${keyId} (${record.name}); within a minute nothing lets it in.`;
    },
  },
};

async function find(register: KeyRegister, keyId: string): Promise<KeyRecord> {
  const record = await register.get(keyId);
  if (!record) throw new UsageError(`There is no key with the key id ${keyId}; see list.`);
  return record;
}

/** A key that is rotated twice leaves two successors, of which one may be in nobody's hands. */
async function warnOfSuccessor(register: KeyRegister, old: KeyRecord): Promise<void> {
  const { keyId, rotatedAt, successorId } = old;
  if (rotatedAt === undefined) return;
  const successor = successorId === undefined ? undefined : await register.get(successorId);
  const status = successor && toKeyStatus(successor, Date.now());
  if (status === 'revoked' || status === 'expired') return;
  process.stderr.write(
    `Warning: the key ${keyId} was rotated already, at ${rotatedAt}. Its successor ${successorId ?? `(see list, named ${old.name})`} works as well as the new one: revoke the one that is not used.\n`,
  );
}

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

function parseExpires({ expires }: KeyOptions): Date | undefined {
  if (expires === undefined) return undefined;
  const duration = parseDuration('--expires', expires);
  if (duration === 0) throw new UsageError('--expires must lie ahead.');
  return new Date(Date.now() + duration);
}

function parseGrace({ grace = '24h' }: KeyOptions): number {
  return parseDuration('--grace', grace);
}

/** The key goes out alone on a line of its own, so that it can be copied, or read by a machine. */
function toNewKeyText({ apiKey, record }: NewKey, { json }: KeyOptions, done: string): string {
  if (json) return toJsonText({ ...toPublicKey(record, Date.now()), apiKey });
  return `${done} This is the only time it is shown:\n${apiKey}`;
}

function toJsonText(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
