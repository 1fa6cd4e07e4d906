import { Mismatch, NoAnswer, RunOver } from './asking/failures.ts';
import type { Report } from './report.ts';
import { findLack, type RowGroup, type Stage } from './rows/row.ts';

/** After so many requests without an answer, the others are not waited for. */
const MOST_UNANSWERED = 3;

/** Checks each row in turn, for as long as the stage answers and the run has time. */
export async function runRows(
  groups: readonly RowGroup[],
  stage: Stage,
  report: Report,
): Promise<void> {
  let unanswered = 0;
  let stopped: string | undefined;

  /** Why no other row would fare better. */
  function toStop(error: unknown): string | undefined {
    if (error instanceof RunOver) return 'the run is over';
    if (error instanceof NoAnswer) {
      unanswered += 1;
      return stage.answered() === 0 || unanswered === MOST_UNANSWERED ? 'no answer' : undefined;
    }
    const isRefused = error instanceof Mismatch && error.status === 401 && stage.answered() === 1;
    return isRefused ? 'the key is refused' : undefined;
  }

  for (const group of groups) {
    const isTold = stopped === undefined;
    for (const row of group.rows) {
      const reason = stopped ?? findLack(row, stage);
      if (reason !== undefined) {
        report.skip(group, row, reason);
        continue;
      }
      try {
        await row.check(stage);
        report.pass(group, row);
      } catch (error) {
        report.fail(group, row, error as Error);
        stopped = toStop(error);
      }
    }
    if (isTold) report.endGroup(group);
  }
}
