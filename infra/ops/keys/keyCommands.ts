import type { KeyRegister } from '../../../shared/keys/keyRegister.ts';
import { confirm } from '../../cli/confirm.ts';
import { toErrorLine } from '../../cli/errorLine.ts';
import {
  type KeyOptions,
  parseExpires,
  parseExpiring,
  parseGrace,
  parseName,
  parsePermission,
} from './keyOptions.ts';
import { toEndingWithin, toKeyStatus, toKeyTable, toPublicKey } from './keyStatus.ts';
import { findKey, type Print, toJsonText, toNewKeyText } from './keyText.ts';
import { rotateKey } from './rotateKey.ts';

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
      const records = within === undefined ? all : toEndingWithin(all, within, now);
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
