import {
  defineKeyRegister,
  findKeyStatus,
  type KeyRegister,
} from '../../../shared/keys/keyRegister.ts';
import type { KeyRecord } from '../../../shared/keys/keyStore.ts';
import type { commands } from '../../cli/commands.ts';
import { ask, confirm, readHiddenLine } from '../../cli/confirm.ts';
import { toErrorLine } from '../../cli/errorLine.ts';
import { log, toColumns, toShortTime, writeOut, writeResult } from '../../cli/output.ts';
import type { OptionValues, Runs } from '../../cli/program.ts';
import type { StageStack } from '../../cli/stageStack.ts';
import { openTable, type TableOptions } from '../../cli/tableOption.ts';
import { UsageError } from '../../cli/usage.ts';
import { provideCheckKey } from './checkKey.ts';

type Subcommands = typeof commands.keys.subcommands;

/** @throws {UsageError} before anything is read or written */
export const runs: Runs<Subcommands> = {
  async create(options) {
    const { name, permission, expires: expiresAt } = options;
    const { register } = await openRegister(options);
    const { apiKey, record } = await register.create({ name, permission, expiresAt });
    log(`Made the key ${record.keyId}. ${shownOnce}`);
    await writeLine(apiKey);
  },

  async list(options) {
    const { expiring } = options;
    const { register } = await openRegister(options);
    const now = Date.now();
    const all = await register.list();
    const records = expiring === undefined ? all : filterExpiring(all, expiring, now);
    const shown = records.map((record) => toPublicKey(record, now));
    await writeResult(options, shown, listKeys(records, now));
  },

  async rotate(options, [typed]) {
    const { register } = await openRegister(options);
    await rotateKey(register, await findKey(register, typed), options);
  },

  async revoke(options, [typed]) {
    const { register } = await openRegister(options);
    const { keyId, name, permission } = await findKey(register, typed);
    const question = `Revoke the key ${keyId} (${name || '-'}, ${permission}) permanently?`;
    if (!options.yes && !(await confirm(question))) return writeLine('Nothing was changed.');
    await register.revoke(keyId);
    await writeLine(`Revoked the key ${keyId} (${name || '-'}); it stops working within a minute.`);
  },

  async check(options) {
    const { register, stack } = await openRegister(options);
    // It takes no emulator.
    await writeLine(await provideCheckKey(stack as StageStack, register));
  },
};

async function openRegister(options: TableOptions) {
  const { client, tableName, stack } = await openTable('apiKeys', options);
  return { register: defineKeyRegister(client, tableName), stack };
}

const shownOnce =
  'This is the only time it is shown; clients send it as "Authorization: Bearer …":';

function writeLine(text: string): Promise<void> {
  return writeOut(`${text}\n`);
}

/**
 * The record of a key by the key itself, its id or its name; `-` reads one of them from standard input. If several
 * working keys have the name, asks which. Messages never repeat the text: it may be a key with a typing error.
 * @throws {UsageError} when there is no such key, or nobody is there to choose one
 */
async function findKey(register: KeyRegister, typed = ''): Promise<KeyRecord> {
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
function listKeys(records: readonly KeyRecord[], now: number): string {
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

/**
 * Makes a successor, shows it, and only then lets the old key expire. After any failure, somebody has a key that works.
 * @throws {UsageError} when the key is expired or revoked, or nobody is there to be asked
 * @throws {Error} when the end of the old key could not be stored
 */
async function rotateKey(
  register: KeyRegister,
  old: KeyRecord,
  { grace, yes }: OptionValues<Subcommands['rotate']>,
): Promise<void> {
  const { keyId } = old;
  const status = findKeyStatus(old, Date.now());
  if (status !== 'active' && status !== 'ending') {
    throw new UsageError(`The key ${keyId} is ${status}: make a new one with create.`);
  }
  if (!old.name || Number.isNaN(Date.parse(old.createdAt))) {
    throw new UsageError(`The key ${keyId} lacks a name or a time: make a new one with create.`);
  }
  const question = chooseQuestion(old, grace);
  if (question && !yes && !(await confirm(question))) return log('Nothing was changed.');

  const successor = await register.succeed(old);
  const successorId = successor.record.keyId;
  try {
    log(`Made the key ${successorId}, the successor of ${keyId} (${old.name}). ${shownOnce}`);
    await writeLine(successor.apiKey);
    const ends = await register.retire(keyId, successorId, grace);
    log(`The old key ${keyId} works until ${ends}, and at most a minute longer.`);
  } catch (error) {
    throw new Error(
      `The old key ${keyId} could not be given an expiry, so both it and its successor ${successorId} work. With the successor in use, revoke the old one; if the successor was not shown, revoke that. The cause: ${toErrorLine(error)}`,
    );
  }
}

/** The question to ask first, if any: with two successors, nobody may have one of them. */
function chooseQuestion(
  { keyId, name, permission, rotatedAt, successorId }: KeyRecord,
  grace: number,
): string {
  const warning = rotatedAt
    ? `The key ${keyId} was rotated already, at ${rotatedAt}, to ${successorId ?? 'a key of the list'}. `
    : '';
  if (grace > 0) return warning && `${warning}Make another successor?`;
  return `${warning}Without a grace period, the key ${keyId} (${name}, ${permission}) is revoked within 60 seconds after its successor is made. Rotate it?`;
}

/** The working keys that expire within the time, the next first. */
function filterExpiring(
  records: readonly KeyRecord[],
  milliseconds: number,
  now: number,
): KeyRecord[] {
  return records
    .filter((record) => now < findEnd(record) && findEnd(record) <= now + milliseconds)
    .sort((one, other) => findEnd(one) - findEnd(other));
}

/** A key's record by name, without the hash of its secret. DynamoDB returns attributes in any order. */
function toPublicKey(record: KeyRecord, now: number): Record<string, string> {
  const { secretHash, ...shown } = { ...record, status: findKeyStatus(record, now) };
  return Object.fromEntries(Object.entries(shown).sort());
}

/** When a key expires or is revoked, in milliseconds since the epoch; infinite if never. */
function findEnd({ revokedAt, expiresAt }: KeyRecord): number {
  const ends = [revokedAt, expiresAt].filter((time) => time !== undefined);
  return Math.min(...ends.map((time) => Date.parse(time)));
}
