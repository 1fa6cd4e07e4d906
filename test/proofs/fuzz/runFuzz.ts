import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { measureHeap } from '../../support/measureHeap.ts';
import { arbitraryDraft, describeCase, type FuzzCase, type RunFacts } from './cases.ts';
import {
  defineStoreOracle,
  findHeapProblems,
  findLogProblems,
  findOwnProblems,
  type Responded,
} from './oracles.ts';
import {
  type CapturedLog,
  catchCrashes,
  type FuzzTarget,
  type Outcome,
  petIds,
  send,
} from './target.ts';

/** After so many cases, the other tables and the heap are checked. */
const CASES_PER_CHECK = 5_000;
/** The time that a failure may take to shrink. */
const SHRINK_MILLISECONDS = 60_000;

export interface FuzzOptions {
  readonly seed: number;
  /** The number of cases, give or take half a batch. */
  readonly runs: number;
  /** The most cases sent at once; log and store are checked after them. 512 by default. */
  readonly maxBatch?: number;
  /** The path of a batch to repeat, from a failure. */
  readonly path?: string | undefined;
  readonly deadlineMilliseconds: number;
  onCheck?(cases: number): void;
  onOutcome?(outcome: Outcome): void;
}

export type FuzzReport = Awaited<ReturnType<typeof runFuzz>>;

/**
 * Sends batches of cases until one fails, and has fast-check shrink that one. The oracles:
 * - `status`: a response of 500 or more, or none although the connection or the function ended
 * - `body`: an error without the contract's Error body, or a response that the document does not have
 * - `store`: entries that differ from the responses
 * - `log`: a line that is not a JSON object, is duplicate or missing, or has the wrong status or key
 * - `secret`: credentials or a body in a log line
 * - `deadline`: a late response
 * - `crash`: an uncaught rejection or exception
 * - `heap`: growing memory
 */
export async function runFuzz(
  target: FuzzTarget,
  log: CapturedLog,
  { seed, runs, maxBatch = 512, path, deadlineMilliseconds, ...options }: FuzzOptions,
) {
  const store = await defineStoreOracle(target);
  const counts = {
    cases: 0,
    events: 0,
    logLines: 0,
  };
  const statuses = new Map<number, number>();
  const heapBytes: number[] = [];
  const crashes: string[] = [];
  let requests = 0;
  /** The batches that failed, the smallest first. */
  const failures: { cases: readonly FuzzCase[]; problems: string[] }[] = [];
  let failingSince = Number.POSITIVE_INFINITY;
  using _crashes = catchCrashes((error) => {
    crashes.push(`crash: ${String((error as Error)?.stack ?? error).slice(0, 600)}`);
  });

  let batch = '';
  const facts: RunFacts = {
    resolve(name, { petId = '' }) {
      if (name === 'batch') return batch;
      return name === 'tag' ? store.versionOf(petId) : (target.keys.get(name) ?? '');
    },
    nextRequestId() {
      requests += 1;
      return `fuzz-request-${requests}`;
    },
  };

  async function findProblems(cases: readonly FuzzCase[]): Promise<string[]> {
    const outcomes = await send(target, cases, deadlineMilliseconds);
    const isIdle = await target.waitForFunctions(deadlineMilliseconds);
    const hasResponse = (outcome: Outcome): outcome is Responded => outcome.response !== undefined;
    const responded = outcomes.filter(hasResponse);
    const written = log.take();
    counts.cases += cases.length;
    counts.events += cases.filter(({ transport }) => transport === 'event').length;
    counts.logLines += written.length;
    for (const { response } of responded) {
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
    }
    for (const outcome of outcomes) options.onOutcome?.(outcome);
    return [
      ...outcomes.flatMap(({ problem }) => problem ?? []),
      ...responded.flatMap(findOwnProblems),
      ...(isIdle ? [] : ['deadline: a function still runs']),
      ...findLogProblems(written, responded, target.secrets),
      ...(await store.findEntryProblems(outcomes)),
      ...crashes.splice(0),
    ];
  }

  const lengths = { minLength: 1, maxLength: maxBatch, size: 'max' } as const;
  const batches = fc.noBias(fc.array(arbitraryDraft(petIds), lengths));
  const property = fc.asyncProperty(batches, async (drafts) => {
    if (performance.now() - failingSince > SHRINK_MILLISECONDS) return;
    batch = randomUUID();
    const cases = drafts.map((draft) => draft(facts));
    const problems = await findProblems(cases);
    if (failures.length === 0 && counts.cases >= (heapBytes.length + 1) * CASES_PER_CHECK) {
      problems.push(...(await store.findOtherProblems()));
      heapBytes.push(await measureHeap());
      options.onCheck?.(counts.cases);
    }
    if (problems.length === 0) return;
    failingSince = Math.min(failingSince, performance.now());
    failures.unshift({ cases, problems });
    throw new Error(problems.join('\n'));
  });
  const { counterexamplePath, errorInstance } = await fc.check(property, {
    seed,
    numRuns: path === undefined ? Math.ceil(runs / (maxBatch / 2)) : 1,
    ...(path !== undefined && { path, endOnFailure: true }),
  });
  const [found] = failures;
  // An error of an oracle.
  if (!found && errorInstance) throw errorInstance;
  return {
    ...counts,
    statuses,
    heapBytes,
    /** Each starts with the name of its oracle. */
    problems: found
      ? found.problems
      : [...(await store.findOtherProblems()), ...findHeapProblems(heapBytes)],
    failure: found && { path: counterexamplePath ?? '', cases: found.cases.map(describeCase) },
  };
}
