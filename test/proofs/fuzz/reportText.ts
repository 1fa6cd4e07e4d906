import { toCount, toTime } from '../../../infra/cli/progress.ts';
import type { FuzzReport } from './fuzzReport.ts';
import { type Failure, oracles } from './oracles/failure.ts';

/** Where a run stands, in one line. */
export function toProgressLine(
  { cases, milliseconds, failures, heapBytes }: FuzzReport,
  runs: number,
): string {
  const rate = toCount((cases / milliseconds) * 1_000);
  const heap = ((heapBytes.at(-1) ?? 0) / 1024 / 1024).toFixed(0);
  const left = toTime(((runs - cases) * milliseconds) / cases / 1_000);
  return `${toCount(cases)} of ${toCount(runs)} cases, ${rate}/s, ${left} left, ${heap} MB, ${toCount(failures.length, 'kind')} of failure`;
}

/** A run's figures as a table, and each kind of failure with the line that repeats it. */
export function toReportText(report: FuzzReport, seed: number): string {
  const { cases, events, statuses, logLines, late, heapBytes, milliseconds, failures } = report;
  const answers = [...statuses].sort(([one], [other]) => one - other);
  const rows = [
    ['cases', toCount(cases)],
    ['events into functions', toCount(events)],
    ['over connections', toCount(cases - events)],
    ['answers', answers.map(([status, count]) => `${status}: ${toCount(count)}`).join(', ')],
    ['503 that were none when repeated alone', toCount(late)],
    ['log lines', toCount(logLines)],
    ['heap after gc, MB', toHeapText(heapBytes)],
    ['time', toTime(milliseconds / 1_000)],
    ...oracles.map((oracle) => [`failures: ${oracle}`, toCount(sumOf(report, oracle))]),
  ];
  const told = failures.map(
    (failure) => `\n${toCount(failure.count)} times ${toFailureText(failure, seed)}`,
  );
  const table = rows.map(([name = '', value = '']) => `| ${name} | ${value} |\n`).join('');
  return `| seed | ${seed} |\n| --- | --- |\n${table}${told.join('')}`;
}

function toHeapText(bytes: readonly number[]): string {
  const megabytes = bytes.map((one) => Number((one / 1024 / 1024).toFixed(1)));
  if (megabytes.length === 0) return 'not measured';
  return `${Math.min(...megabytes)} to ${Math.max(...megabytes)}, at last ${megabytes.at(-1)}`;
}

/** A failure, with the line that repeats it. */
export function toFailureText({ oracle, problem, number }: Failure, seed: number): string {
  const repeat = number === undefined ? '' : `  npm run fuzz -- --seed ${seed} --only ${number}\n`;
  return `${oracle}: ${problem}\n${repeat}`;
}

function sumOf({ failures }: FuzzReport, searched: string): number {
  return failures
    .filter(({ oracle }) => oracle === searched)
    .reduce((sum, { count }) => sum + count, 0);
}
