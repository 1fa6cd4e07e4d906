/**
 * What can be wrong:
 * - `status`: an answer of 500 or more, or none, although the connection or the function ended
 * - `body`: an error that is no Error of the contract, or an answer that the document does not tell of
 * - `store`: entries that nobody was told of, or that are not as was told
 * - `log`: a line that is no JSON object, comes twice, is missing, or says another status or key
 * - `secret`: credentials or a body in a log line
 * - `deadline`: an answer that did not come in time
 * - `crash`: a rejection or an exception that nobody caught
 * - `heap`: more and more memory
 */
export const oracles = [
  'status',
  'body',
  'store',
  'log',
  'secret',
  'deadline',
  'crash',
  'heap',
] as const;
export type Oracle = (typeof oracles)[number];

export interface Failure {
  readonly oracle: Oracle;
  readonly problem: string;
  /** The case, or the first of those that it may have been; none, of the run as a whole. */
  readonly number?: number;
}

/** Failures of one kind. */
export interface FailureGroup extends Failure {
  readonly count: number;
}

/** Keeps the first failure of each kind, and counts the others: a run goes on past what it finds. */
export function defineFailures(onFirst: (failure: Failure) => void = () => {}) {
  const groups = new Map<string, FailureGroup>();

  function add(failure: Failure): void {
    const kind = `${failure.oracle} ${failure.problem.replaceAll(/\d+/g, 'N').slice(0, 120)}`;
    const known = groups.get(kind);
    if (known) groups.set(kind, { ...known, count: known.count + 1 });
    if (known || groups.size >= MOST_KINDS) return;
    groups.set(kind, { ...failure, count: 1 });
    onFirst(failure);
  }

  return {
    add,
    addAll: (failures: readonly Failure[]): void => failures.forEach(add),
    groups: (): readonly FailureGroup[] => [...groups.values()],
  };
}

const MOST_KINDS = 100;
