import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import type { EventCase, FuzzCase } from './cases/fuzzCase.ts';
import { makeCase } from './cases/makeCase.ts';
import type { FuzzOptions, FuzzReport } from './fuzzReport.ts';
import { defineFailures } from './oracles/failure.ts';
import { defineHeapOracle } from './oracles/heapOracle.ts';
import { judgeAnswer } from './oracles/judgeAnswer.ts';
import { defineLogOracle } from './oracles/logOracle.ts';
import { defineStoreOracle } from './oracles/storeOracle.ts';
import type { CapturedLog } from './target/captureLog.ts';
import { catchCrashes } from './target/catchCrashes.ts';
import type { FuzzTarget } from './target/fuzzTarget.ts';
import { defineSender, type Outcome } from './target/sendCase.ts';

/** So many at once; after them, log and store are looked at. */
const BATCH = 256;
/** Those of a batch that are whole requests share so many connections. */
const CONNECTIONS = 8;
/** How long a batch waits for those that are no whole requests; what they store is known when they answer. */
const PATIENCE_MILLISECONDS = 50;
/** How often the log is looked at after the last answer. */
const LAST_LOOKS = 4;

/** Sends cases, and holds what comes back, what is logged and what is stored against the oracles. */
export async function runFuzz(
  target: FuzzTarget,
  log: CapturedLog,
  options: FuzzOptions,
): Promise<FuzzReport> {
  const { seed, first, runs, deadlineMilliseconds, checkEvery, onProgress, onOutcome } = options;
  const started = performance.now();
  const failures = defineFailures(options.onFailure);
  const logOracle = defineLogOracle(target.secrets);
  const storeOracle = await defineStoreOracle(target.tables);
  const heapOracle = defineHeapOracle();
  const { sendEvent, sendBytes } = defineSender(target, deadlineMilliseconds);
  const facts = { ...target, tagOf: storeOracle.tagOf };
  const counts = { cases: 0, events: 0, logLines: 0, late: 0 };
  const statuses = new Map<number, number>();
  /** What was not answered when the store was looked at may have changed it, before or since. */
  const overdue = new WeakSet<FuzzCase>();
  let number = first;
  using _crashes = catchCrashes((error) => {
    const problem = String((error as Error)?.stack ?? error).slice(0, 600);
    failures.add({ oracle: 'crash', problem, number });
  });

  /** @returns whether it is to be repeated alone */
  function take(outcome: Outcome, isRepeated = false): boolean {
    const { one, answer, failure } = outcome;
    onOutcome?.(outcome);
    if (failure) failures.add(failure);
    if (!answer || answer.status >= 500 || overdue.has(one)) storeOracle.noteUnknown(one);
    if (!answer) return false;
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    if (answer.status === 503 && !isRepeated) return true;
    failures.addAll(judgeAnswer(one, answer));
    logOracle.expect(one, answer);
    storeOracle.note(answer);
    return false;
  }

  const slow = defineSlow(take);

  async function runBatch(cases: readonly FuzzCase[]): Promise<void> {
    for (const one of cases) storeOracle.begin(one);
    const events = cases.filter((one) => one.transport === 'event');
    const sockets = cases.filter((one) => one.transport === 'socket');
    const [whole = [], others = []] = [true, false].map((isWhole) =>
      sockets.filter(({ framing }) => (framing === 'whole') === isWhole),
    );
    const byConnection = Map.groupBy(whole, ({ number: each }) => each % CONNECTIONS);
    const settled = others.map((one) => slow.add(one, sendBytes([one])));
    const outcomes = await Promise.all([
      ...events.map(sendEvent),
      ...[...byConnection.values()].map(sendBytes),
    ]);
    const late = outcomes.flat().filter((outcome) => take(outcome));
    // One after the other: what a request causes by itself comes again, and what a busy machine does does not.
    for (const { one } of late) {
      const again = one.transport === 'event' ? sendEvent(withOtherId(one)) : sendBytes([one]);
      for (const outcome of await again) take(outcome, true);
    }
    await Promise.race([Promise.all(settled), pause(PATIENCE_MILLISECONDS)]);
    counts.cases += cases.length;
    counts.events += events.length;
    counts.late += late.length;
  }

  async function look(): Promise<void> {
    for (const one of slow.cases()) {
      overdue.add(one);
      storeOracle.noteUnknown(one);
    }
    const written = log.take();
    counts.logLines += written.length;
    failures.addAll(logOracle.judge(written));
    failures.addAll(await storeOracle.judge());
  }

  const report = (): FuzzReport => ({
    ...counts,
    statuses,
    heapBytes: heapOracle.samples(),
    milliseconds: performance.now() - started,
    failures: failures.groups(),
  });
  const end = first + runs;
  for (let nextCheck = first + checkEvery; number < end; onProgress?.(report())) {
    const numbers = Array.from({ length: Math.min(BATCH, end - number) }, (_, at) => number + at);
    await runBatch(numbers.map((each) => makeCase(seed, each, facts)));
    await look();
    number += numbers.length;
    if (number < nextCheck) continue;
    nextCheck = number + checkEvery;
    failures.addAll(await storeOracle.judgeAll());
    heapOracle.sample();
  }
  await slow.end();
  failures.addAll(await storeOracle.judgeAll());
  // Lines that came late.
  for (let looks = 0; looks < LAST_LOOKS; looks += 1) await look();
  failures.addAll(heapOracle.judge());
  return report();
}

/** Cases whose connections wait for more than comes: they hold up nobody. */
function defineSlow(take: (outcome: Outcome, isRepeated: boolean) => unknown) {
  const pending = new Map<FuzzCase, Promise<void>>();
  return {
    cases: () => pending.keys(),
    add(one: FuzzCase, sent: Promise<readonly Outcome[]>): Promise<void> {
      const settled = sent.then((outcomes) => {
        for (const outcome of outcomes) take(outcome, true);
        pending.delete(one);
      });
      pending.set(one, settled);
      return settled;
    },
    end: () => Promise.all(pending.values()),
  };
}

/** Under the same id, two requests would log two lines. */
function withOtherId(one: EventCase): EventCase {
  const { requestContext } = one.event;
  const requestId = `${requestContext.requestId}-again`;
  return { ...one, event: { ...one.event, requestContext: { ...requestContext, requestId } } };
}
