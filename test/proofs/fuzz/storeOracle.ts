import { isDeepStrictEqual } from 'node:util';
import type { WholeAnswer } from '../../../infra/openapi/answerProblems.ts';
import { operations } from '../../../shared/contract/operations.ts';
import { toVersion } from '../../../shared/store/inventoryRecord.ts';
import type { FuzzCase } from './cases.ts';
import type { Outcome } from './oracles.ts';
import type { Entry, FuzzTarget } from './target.ts';

/** Holds the inventory against the answers: it changes by an update that was answered 200, and by nothing else. */
export interface StoreOracle {
  /** The tag of an entry as it was when last read. */
  tagOf(petId: string): string;
  /** What is wrong with the entries after these cases. */
  findEntryProblems(outcomes: readonly Outcome[]): Promise<string[]>;
  /** What was made or changed beside the inventory's entries. */
  findOtherProblems(): Promise<string[]>;
}

interface Update {
  readonly petId: string;
  readonly quantity: string;
  readonly tag: string;
}

export async function defineStoreOracle(target: FuzzTarget): Promise<StoreOracle> {
  let entries = await target.readEntries();
  const others = await target.readOthers();
  const { answeredTags } = target;
  /** Entries that an update without an answer named, ever and lately: it may take effect a while later. */
  const everUnknown = new Set<string>();
  let lastUnknown = new Set<string>();

  function findProblem(
    updates: readonly Update[],
    isUnknown: boolean,
    before: Entry,
    after: Entry | undefined,
  ): string | undefined {
    const petId = before.p?.N ?? '';
    if (isDeepStrictEqual(before, after)) {
      // A repeated request has no second effect, and the tag of its first answer.
      const isRepeated = updates.every(({ tag }) => answeredTags.has(tag));
      if (everUnknown.has(petId) || isRepeated) return undefined;
      return 'is as it was before an update that was answered 200';
    }
    const hasItsStatus = after !== undefined && isDeepStrictEqual(after.s, before.s);
    const isAnswered =
      hasItsStatus &&
      updates.some(({ quantity, tag }) => quantity === after.q?.N && tag === toTag(after));
    if (isAnswered || (isUnknown && hasItsStatus)) return undefined;
    return `is ${JSON.stringify(after)}, which no answer said`;
  }

  return {
    tagOf(petId) {
      const entry = entries.get(petId);
      return entry ? toTag(entry) : '"none"';
    },

    async findEntryProblems(outcomes) {
      const updates = outcomes.flatMap((outcome) =>
        outcome.answer && isUpdate(outcome.one) ? parseUpdate(outcome.answer) : [],
      );
      const unknown = new Set(
        outcomes
          .filter(({ answer }) => !answer || answer.status >= 500)
          .map(({ one }) => toPetId(one)),
      );
      for (const petId of unknown) everUnknown.add(petId);
      if (updates.length === 0 && !outcomes.some(({ one }) => isUpdate(one))) return [];
      const now = await target.readEntries();
      const problems = [...entries].flatMap(([petId, before]) => {
        const isUnknown = unknown.has(petId) || lastUnknown.has(petId);
        const own = updates.filter((update) => update.petId === petId);
        const problem = findProblem(own, isUnknown, before, now.get(petId));
        return problem === undefined ? [] : [`store: The entry ${petId} ${problem}.`];
      });
      for (const { tag } of updates) answeredTags.add(tag);
      entries = now;
      lastUnknown = unknown;
      return problems;
    },

    async findOtherProblems() {
      return isDeepStrictEqual(await target.readOthers(), others)
        ? []
        : ['store: Something was made, or changed, beside the entries.'];
    },
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
    ? operations[one.request.operationId].method === 'PATCH'
    : Buffer.concat(one.chunks).includes('PATCH');
}

/** What an answer to an update says of its entry. */
function parseUpdate({ status, headers, bytes }: WholeAnswer): Update[] {
  const tag = headers.get('etag') ?? '';
  if (status !== 200 || !tag.startsWith('"')) return [];
  const [, petId, quantity] = /^\{"petId":(-?\d+),"quantity":(\d+),/.exec(bytes.toString()) ?? [];
  return petId === undefined || quantity === undefined ? [] : [{ petId, quantity, tag }];
}

function toTag(entry: Entry): string {
  return `"${toVersion(entry)}"`;
}
