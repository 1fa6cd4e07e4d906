import type { Failure, FailureGroup } from './oracles/failure.ts';
import type { Outcome } from './target/sendCase.ts';

export interface FuzzOptions {
  readonly seed: number;
  /** The number of the first case. */
  readonly first: number;
  readonly runs: number;
  /** How long an answer may take. */
  readonly deadlineMilliseconds: number;
  /** After how many cases every table and the heap are looked at. */
  readonly checkEvery: number;
  onProgress?(report: FuzzReport): void;
  /** Is told of the first failure of each kind. */
  onFailure?(failure: Failure): void;
  /** Is told what became of each case. */
  onOutcome?(outcome: Outcome): void;
}

export interface FuzzReport {
  readonly cases: number;
  readonly events: number;
  /** Answers by status. */
  readonly statuses: ReadonlyMap<number, number>;
  /** Answers of 503 that were others when asked again: the engine or the machine was late. */
  readonly late: number;
  readonly logLines: number;
  readonly heapBytes: readonly number[];
  readonly milliseconds: number;
  readonly failures: readonly FailureGroup[];
}
