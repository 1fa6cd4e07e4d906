import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import {
  arbitraryDraft,
  describeCase,
  type EventCase,
  type FuzzCase,
  type RunFacts,
  type SocketCase,
} from './cases.ts';
import { DeadlinePassed, exchange } from './connection.ts';
import {
  type Answered,
  findHeapProblems,
  findLogProblems,
  findOwnProblems,
  measureHeap,
  type Outcome,
} from './oracles.ts';
import { defineStoreOracle } from './storeOracle.ts';
import { type CapturedLog, catchCrashes, type FuzzTarget, petIds } from './target.ts';

/** Those of a batch that are whole requests share so many connections. */
const CONNECTIONS = 8;
/** How long broken requests may wait for more when the others of their batch are answered. */
const GIVE_UP_MILLISECONDS = 30;
/** The other tables and the heap are read after so many cases. */
const CASES_PER_CHECK = 5_000;
/** How long a failure may shrink. */
const SHRINK_MILLISECONDS = 60_000;

export interface FuzzOptions {
  readonly seed: number;
  /** How many cases, but for half a batch. */
  readonly runs: number;
  /** How many cases are sent at once, at most; after them, log and store are read. 512 by default. */
  readonly maxBatch?: number;
  /** A batch to repeat, as a failure names it. */
  readonly path?: string;
  readonly deadlineMilliseconds: number;
  onProgress?(report: FuzzReport): void;
  /** Is called for each case that was sent. */
  onOutcome?(outcome: Outcome): void;
}

export interface FuzzReport {
  cases: number;
  events: number;
  /** Answers by status. */
  readonly statuses: Map<number, number>;
  /** Answers of 503 that were others when repeated: the engine or the machine was late. */
  late: number;
  logLines: number;
  readonly heapBytes: number[];
  readonly milliseconds: number;
  /** What went wrong, each as the name of its oracle and a sentence. */
  readonly problems: readonly string[];
  /** The smallest batch that fails. */
  readonly failure?: { readonly path: string; readonly cases: readonly string[] };
}

/**
 * Sends batches of cases until one fails, and has fast-check shrink that one. The oracles:
 * - `status`: an answer of 500 or more, or none, although the connection or the function ended
 * - `body`: an error without the contract's Error body, or an answer that the document does not have
 * - `store`: entries that differ from what was answered
 * - `log`: a line that is no JSON object, comes twice, is missing, or says another status or key
 * - `secret`: credentials or a body in a log line
 * - `deadline`: an answer that did not come in time
 * - `crash`: a rejection or an exception that nobody caught
 * - `heap`: more and more memory
 */
export async function runFuzz(
  target: FuzzTarget,
  log: CapturedLog,
  { seed, runs, maxBatch = 512, path, deadlineMilliseconds, onProgress, onOutcome }: FuzzOptions,
): Promise<FuzzReport> {
  const started = performance.now();
  const store = await defineStoreOracle(target);
  const counts = { cases: 0, events: 0, late: 0, logLines: 0 };
  const statuses = new Map<number, number>();
  const heapBytes: number[] = [];
  const crashes: string[] = [];
  let requests = 0;
  let failing: { since: number; cases: readonly FuzzCase[]; problems: string[] } | undefined;
  using _crashes = catchCrashes((error) => {
    crashes.push(`crash: ${String((error as Error)?.stack ?? error).slice(0, 600)}`);
  });

  const facts: RunFacts = {
    resolve: (name, { petId = '' }) =>
      target.keys.get(name) ?? (name === 'tag' ? store.tagOf(petId).slice(1, -1) : ''),
    nextRequestId() {
      requests += 1;
      return `fuzz-request-${requests}`;
    },
  };
  const send = defineSender(target, deadlineMilliseconds);

  async function findProblems(cases: readonly FuzzCase[]): Promise<string[]> {
    const first = await send(cases);
    const late = first.filter(({ answer }) => answer?.status === 503);
    const outcomes = first.filter((outcome) => !late.includes(outcome));
    // One after the other: what a request causes comes again, and what a busy machine causes does not.
    for (const { one } of late) outcomes.push(...(await send([repeat(one, facts)])));
    const isIdle = await target.waitForFunctions(deadlineMilliseconds);
    const answered = outcomes.filter(
      (outcome): outcome is Answered => outcome.answer !== undefined,
    );
    const written = log.take();
    counts.cases += cases.length;
    counts.events += cases.filter(({ transport }) => transport === 'event').length;
    counts.late += late.length;
    counts.logLines += written.length;
    for (const { answer } of answered) {
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    }
    for (const outcome of outcomes) onOutcome?.(outcome);
    return [
      ...outcomes.flatMap(({ problem }) => problem ?? []),
      ...answered.flatMap(findOwnProblems),
      ...(isIdle ? [] : ['deadline: a function still runs']),
      ...findLogProblems(written, answered, target.secrets),
      // What was late may have had its effect the first time.
      ...(await store.findEntryProblems([...outcomes, ...late])),
      ...crashes.splice(0),
    ];
  }

  const report = (problems: readonly string[] = []): FuzzReport => ({
    ...counts,
    statuses,
    heapBytes,
    milliseconds: performance.now() - started,
    problems,
  });

  const batches = fc.array(arbitraryDraft(petIds), {
    minLength: 1,
    maxLength: maxBatch,
    size: 'max',
  });
  const property = fc.asyncProperty(fc.noBias(batches), async (drafts) => {
    if (failing && performance.now() - failing.since > SHRINK_MILLISECONDS) return;
    const cases = drafts.map((draft) => draft(facts));
    const problems = await findProblems(cases);
    if (!failing && counts.cases >= (heapBytes.length + 1) * CASES_PER_CHECK) {
      problems.push(...(await store.findOtherProblems()));
      heapBytes.push(measureHeap());
    }
    onProgress?.(report());
    if (problems.length === 0) return;
    failing = { since: failing?.since ?? performance.now(), cases, problems };
    throw new Error(problems.join('\n'));
  });
  const { counterexamplePath } = await fc.check(property, {
    seed,
    numRuns: path === undefined ? Math.ceil(runs / (maxBatch / 2)) : 1,
    ...(path !== undefined && { path, endOnFailure: true }),
  });
  const problems = failing?.problems ?? [
    ...(await store.findOtherProblems()),
    ...findHeapProblems(heapBytes),
  ];
  return {
    ...report(problems),
    ...(failing && {
      failure: { path: counterexamplePath ?? '', cases: failing.cases.map(describeCase) },
    }),
  };
}

/** Under the same id, two requests would log two lines. */
function repeat(one: FuzzCase, { nextRequestId }: RunFacts): FuzzCase {
  if (one.transport === 'socket') return one;
  const requestContext = { ...one.event.requestContext, requestId: nextRequestId() };
  return { ...one, event: { ...one.event, requestContext } };
}

/** Sends cases all at once. */
function defineSender(target: FuzzTarget, deadlineMilliseconds: number) {
  async function sendEvent(one: EventCase): Promise<Outcome[]> {
    const { promise: expired, reject } = Promise.withResolvers<never>();
    const late = new DeadlinePassed('no answer by the deadline to an event');
    const timer = setTimeout(() => reject(late), deadlineMilliseconds);
    try {
      return [{ one, answer: await Promise.race([target.call(one), expired]) }];
    } catch (error) {
      return [{ one, problem: toProblem(one, error) }];
    } finally {
      clearTimeout(timer);
    }
  }

  async function sendBytes(cases: readonly SocketCase[], giveUp?: AbortSignal): Promise<Outcome[]> {
    try {
      const sent = await exchange(target.port, cases, deadlineMilliseconds, giveUp);
      const outcomes = cases.map((one, index): Outcome => {
        const answer = sent.answers[index];
        if (answer) return { one, answer };
        const problem = `status: no answer to ${one.framing} bytes before the connection ended`;
        return sent.hasGivenUp ? { one } : { one, problem };
      });
      // Bytes that are more than one request have several answers.
      const others = sent.answers.slice(cases.length);
      return [...outcomes, ...others.map((answer) => ({ one: cases[0] as SocketCase, answer }))];
    } catch (error) {
      return cases.map((one) => ({ one, problem: toProblem(one, error) }));
    }
  }

  return async (cases: readonly FuzzCase[]): Promise<Outcome[]> => {
    const events = cases.filter((one) => one.transport === 'event');
    const sockets = cases.filter((one) => one.transport === 'socket');
    const whole = sockets.filter(({ framing }) => framing === 'whole');
    const others = sockets.filter(({ framing }) => framing !== 'whole');
    const connections = Map.groupBy(whole, (_, index) => index % CONNECTIONS);
    const giveUp = new AbortController();
    const broken = Promise.all(others.map((one) => sendBytes([one], giveUp.signal)));
    const sound = await Promise.all([
      ...events.map(sendEvent),
      ...[...connections.values()].map((shared) => sendBytes(shared)),
    ]);
    await Promise.race([broken, pause(GIVE_UP_MILLISECONDS)]);
    giveUp.abort();
    return [...sound, ...(await broken)].flat();
  };
}

function toProblem({ transport }: FuzzCase, error: unknown): string {
  const { message, stack = message } = error as Error;
  return error instanceof DeadlinePassed
    ? `deadline: ${message}`
    : `status: the ${transport} failed: ${stack.slice(0, 600)}`;
}
