import { Mismatch, NoAnswer } from './asking/failures.ts';
import type { Row, RowGroup } from './rows/row.ts';

/** What a run prints: a line for each group of rows, one for each cause of failures, and the counts. */
export interface Report {
  pass(group: RowGroup, row: Row): void;
  skip(group: RowGroup, row: Row, reason: string): void;
  fail(group: RowGroup, row: Row, error: Error): void;
  endGroup(group: RowGroup): void;
  /** @returns whether no row failed */
  finish(requests: number, seconds: number): boolean;
}

/** A failure, and how many other rows it is likely to be behind. */
interface Cause {
  readonly line: string;
  others: number;
}

/** @param isVerbose whether each row has a line */
export function defineReport(print: (line: string) => void, isVerbose: boolean): Report {
  const total = { passed: 0, failed: 0, skipped: 0 };
  const causes = new Map<string, Cause>();
  /** How often rows of the group at hand came out so. */
  let outcomes = newOutcomes();

  function note(outcome: string, group: RowGroup, row: Row): void {
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    if (isVerbose) print(`${outcome.padEnd(7)}  ${group.name}: ${row.name}`);
  }

  return {
    pass(group, row) {
      total.passed += 1;
      note('passed', group, row);
    },
    skip(group, row, reason) {
      total.skipped += 1;
      note(`skipped: ${reason}`, group, row);
    },
    fail(group, row, error) {
      total.failed += 1;
      note('failed', group, row);
      const topic = toTopic(error);
      const cause = causes.get(topic);
      if (cause) cause.others += 1;
      else causes.set(topic, { line: `${group.name}: ${row.name}: ${error.message}`, others: 0 });
    },
    endGroup({ name }) {
      const counts = [...outcomes]
        .filter(([, count]) => count > 0)
        .map(([outcome, count]) => `${count} ${outcome}`);
      if (!isVerbose) print(`${name}: ${counts.join(', ')}`);
      outcomes = newOutcomes();
    },
    finish(requests, seconds) {
      for (const { line, others } of causes.values()) {
        const more = others === 0 ? '' : ` The same in ${toCount(others, 'more row')}.`;
        print(`FAILED   ${line}${more}`);
      }
      const rows = `${toCount(total.passed, 'row')} passed, ${total.failed} failed, ${total.skipped} skipped`;
      print(`${rows}; ${toCount(requests, 'request')} in ${Math.ceil(seconds)} s.`);
      return total.failed === 0;
    },
  };
}

/** In the order in which they are told. */
function newOutcomes(): Map<string, number> {
  return new Map([
    ['passed', 0],
    ['failed', 0],
  ]);
}

function toCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function toTopic(error: Error): string {
  if (error instanceof Mismatch) return error.topic;
  return error instanceof NoAnswer ? 'no answer' : error.message;
}
