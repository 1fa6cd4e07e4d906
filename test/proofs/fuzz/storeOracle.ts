import { isDeepStrictEqual } from 'node:util';
import type { WholeAnswer } from '../../../infra/openapi/answerProblems.ts';
import { operations } from '../../../shared/contract/operations.ts';
import { toVersion } from '../../../shared/store/inventoryRecord.ts';
import { type FuzzCase, percentDecode } from './cases.ts';
import type { Outcome } from './sender.ts';
import type { Entry, FuzzTarget } from './target.ts';

interface Update {
  readonly petId: string;
  readonly quantity: string;
  readonly tag: string;
}

/** Holds the inventory against the answers: it changes by an update that was answered 200, and by nothing else. */
export async function defineStoreOracle(target: FuzzTarget) {
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
    if (isDeepStrictEqual(before, after)) {
      // A repeated request has no second effect, and the tag of its first answer.
      const isRepeated = updates.every(({ tag }) => answeredTags.has(tag));
      if (everUnknown.has(before.p?.N ?? '') || isRepeated) return undefined;
      return 'is as it was before an update that was answered 200';
    }
    const hasItsStatus = after !== undefined && isDeepStrictEqual(after.s, before.s);
    const isAnswered = updates.some(
      ({ quantity, tag }) => after && quantity === after.q?.N && tag === `"${toVersion(after)}"`,
    );
    if (hasItsStatus && (isAnswered || isUnknown)) return undefined;
    return `is ${JSON.stringify(after)}, which no answer said`;
  }

  return {
    /** The version of an entry as it was when last read. */
    versionOf(petId: string): string {
      const entry = entries.get(petId);
      return entry ? toVersion(entry) : 'none';
    },

    /** What is wrong with the entries after these cases. */
    async findEntryProblems(outcomes: readonly Outcome[]): Promise<string[]> {
      const sent = outcomes.filter(({ one }) => isUpdate(one));
      if (sent.length === 0) return [];
      const updates = sent.flatMap(({ answer }) => (answer ? parseUpdate(answer) : []));
      const isOpen = ({ answer }: Outcome) => !answer || answer.status >= 500;
      const unknown = new Set(sent.filter(isOpen).map(({ one }) => toPetId(one)));
      for (const petId of unknown) everUnknown.add(petId);
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

    /** What was made or changed beside the inventory's entries. */
    async findOtherProblems(): Promise<string[]> {
      return isDeepStrictEqual(await target.readOthers(), others)
        ? []
        : ['store: Something was made, or changed, beside the entries.'];
    },
  };
}

/** The id that a request names, if any. */
function toPetId({ transport, request: { petId = '', path } }: FuzzCase): string {
  const [last = ''] = path.trim().split('/').at(-1)?.split(/[?#]/) ?? [];
  return percentDecode(transport === 'event' ? petId : last);
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
