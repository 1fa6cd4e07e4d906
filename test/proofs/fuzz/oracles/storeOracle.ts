import { isDeepStrictEqual } from 'node:util';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { WholeAnswer } from '../../../../infra/openapi/answerProblems.ts';
import { toVersion } from '../../../../shared/store/inventoryRecord.ts';
import type { FuzzCase } from '../cases/fuzzCase.ts';
import type { StoredTables } from '../target/storedTables.ts';
import type { Failure } from './failure.ts';

/** Holds the inventory against what clients were told: it changes by an update that was answered 200, and by nothing else. */
export interface StoreOracle {
  /** The tag of an entry as it was when last looked at. */
  tagOf(petId: string): string;
  /** Is told of each case before it is sent. */
  begin(one: FuzzCase): void;
  /** Is told of each answer. */
  note(answer: WholeAnswer): void;
  /** Is told of a case whose client left before its answer: it may have had an effect. */
  noteUnknown(one: FuzzCase): void;
  /** Looks at the entries, where an update was tried since the last look. */
  judge(): Promise<Failure[]>;
  /** Looks at every table, for what was made or changed beside the inventory's entries. */
  judgeAll(): Promise<Failure[]>;
}

type Record_ = Record<string, AttributeValue>;

/** What happened since the entries were last read. */
interface Look {
  readonly told: Told[];
  readonly tried: FuzzCase[];
  readonly unknown: Set<string>;
}

const newLook = (): Look => ({ told: [], tried: [], unknown: new Set() });

interface Told {
  readonly petId: string;
  readonly quantity: string;
  readonly tag: string;
}

export async function defineStoreOracle(tables: StoredTables): Promise<StoreOracle> {
  let entries = await tables.readEntries();
  const others = await tables.readOthers();
  let current = newLook();
  /** The tags of all looks before the current one. */
  const toldTags = new Set<string>();
  const everUnknown = new Set<string>();

  function judgeEntry(
    { told, tried, unknown }: Look,
    petId: string,
    before: Record_,
    after: Record_ | undefined,
  ): Failure[] {
    if (unknown.has(petId) && isDeepStrictEqual(after?.s, before.s)) return [];
    const fail = (problem: string) => [toFailure(tried, petId, problem)];
    const updates = told.filter((update) => update.petId === petId);
    if (isDeepStrictEqual(before, after)) {
      // A repeated request has no second effect, and the tag of its first answer.
      if (everUnknown.has(petId) || updates.every(({ tag }) => toldTags.has(tag))) return [];
      return fail('is as it was before an update that was answered 200');
    }
    const isTold =
      after !== undefined &&
      isDeepStrictEqual(after.s, before.s) &&
      updates.some(({ quantity, tag }) => quantity === after.q?.N && tag === toTag(after));
    return isTold ? [] : fail(`is ${JSON.stringify(after)}, of which no answer told`);
  }

  return {
    tagOf(petId) {
      const entry = entries.get(petId);
      return entry ? toTag(entry) : '"none"';
    },

    begin(one) {
      if (isUpdate(one)) current.tried.push(one);
    },

    note(answer) {
      const update = toTold(answer);
      if (update) current.told.push(update);
    },

    noteUnknown(one) {
      current.unknown.add(toPetId(one));
      everUnknown.add(toPetId(one));
    },

    async judge() {
      if (current.tried.length + current.told.length === 0) return [];
      // What is answered while the entries are read counts for the next look.
      const look = current;
      current = newLook();
      const now = await tables.readEntries();
      const failures = [...entries].flatMap(([petId, before]) =>
        judgeEntry(look, petId, before, now.get(petId)),
      );
      for (const { tag } of look.told) toldTags.add(tag);
      entries = now;
      return failures;
    },

    async judgeAll() {
      const now = await tables.readOthers();
      return isDeepStrictEqual(now, others)
        ? []
        : [{ oracle: 'store', problem: 'Something was made, or changed, beside the entries.' }];
    },
  };
}

/** Among those that were tried, one that named the entry is the likeliest. */
function toFailure(tried: readonly FuzzCase[], petId: string, problem: string): Failure {
  const named = tried.filter((one) => toPetId(one) === petId);
  const [suspect = tried[0]] = named;
  const numbers = (named.length > 0 ? named : tried).map(({ number }) => number).join(', ');
  return {
    oracle: 'store',
    problem: `The entry ${petId} ${problem} (by one of the cases ${numbers}).`,
    ...(suspect && { number: suspect.number }),
  };
}

/** The id that a request names, if any. */
function toPetId({ transport, request: { petId = '', path } }: FuzzCase): string {
  const [last = ''] = path.trim().split('/').at(-1)?.split(/[?#]/) ?? [];
  const text = transport === 'event' ? petId : last;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function isUpdate(one: FuzzCase): boolean {
  return one.transport === 'event'
    ? one.request.operationId === 'updateInventory'
    : Buffer.concat(one.chunks).includes('PATCH');
}

/** What an answer to an update says of its entry: no other has one tag and one entry. */
function toTold({ status, headers, bytes }: WholeAnswer): Told | undefined {
  const tag = headers.get('etag') ?? '';
  if (status !== 200 || !tag.startsWith('"')) return undefined;
  const [, petId, quantity] = /^\{"petId":(-?\d+),"quantity":(\d+),/.exec(bytes.toString()) ?? [];
  return petId === undefined || quantity === undefined ? undefined : { petId, quantity, tag };
}

function toTag(entry: Record_): string {
  return `"${toVersion(entry)}"`;
}
