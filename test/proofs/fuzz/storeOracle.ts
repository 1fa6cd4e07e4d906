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

/** Compares the inventory with the responses: an update with a 200 changes it, and nothing else does. */
export async function defineStoreOracle(target: FuzzTarget) {
  let entries = await target.readEntries();
  const others = await target.readOthers();
  const { answeredTags } = target;
  /** Entries named by updates without a response, ever and in the last batch: these may take effect later. */
  const everUnknown = new Set<string>();
  let lastUnknown = new Set<string>();

  function findProblem(
    updates: readonly Update[],
    isUnknown: boolean,
    before: Entry,
    after: Entry | undefined,
  ): string | undefined {
    if (isDeepStrictEqual(before, after)) {
      // A repeated request has no second effect, and gets the tag of its first response.
      const isRepeated = updates.every(({ tag }) => answeredTags.has(tag));
      if (everUnknown.has(before.p?.N ?? '') || isRepeated) return undefined;
      return 'is unchanged after an update that got 200';
    }
    const hasItsStatus = after !== undefined && isDeepStrictEqual(after.s, before.s);
    const isAnswered = updates.some(
      ({ quantity, tag }) => after && quantity === after.q?.N && tag === `"${toVersion(after)}"`,
    );
    if (hasItsStatus && (isAnswered || isUnknown)) return undefined;
    return `is ${JSON.stringify(after)}, which no response reported`;
  }

  return {
    /** An entry's version at the last read. */
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

    /** Finds other changes than to the inventory's entries. */
    async findOtherProblems(): Promise<string[]> {
      return isDeepStrictEqual(await target.readOthers(), others)
        ? []
        : ['store: Something other than the entries has changed.'];
    },
  };
}

/** The id that a request names, or ''. */
function toPetId({ transport, request: { petId = '', path } }: FuzzCase): string {
  const [last = ''] = path.trim().split('/').at(-1)?.split(/[?#]/) ?? [];
  return percentDecode(transport === 'event' ? petId : last);
}

function isUpdate(one: FuzzCase): boolean {
  return one.transport === 'event'
    ? operations[one.request.operationId].method === 'PATCH'
    : Buffer.concat(one.chunks).includes('PATCH');
}

/** Reads the entry from the response to an update. */
function parseUpdate({ status, headers, bytes }: WholeAnswer): Update[] {
  const tag = headers.get('etag') ?? '';
  if (status !== 200 || !tag.startsWith('"')) return [];
  const [, petId, quantity] = /^\{"petId":(-?\d+),"quantity":(\d+),/.exec(bytes.toString()) ?? [];
  return petId === undefined || quantity === undefined ? [] : [{ petId, quantity, tag }];
}
