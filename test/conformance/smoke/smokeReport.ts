import { stripVTControlCharacters } from 'node:util';
import type { Reporter, TestCase } from 'vitest/node';

/** What a smoke test prints. */
export interface SmokeReport extends Reporter {
  /** Everything that it has to say, and whether the stage passed. */
  finish(): boolean;
}

/**
 * Prints one line for each group of rows, and one for each row that failed.
 * @param redact takes secrets out of a text
 */
export function defineSmokeReport(
  print: (line: string) => void,
  redact: (text: string) => string,
  verbose: boolean,
): SmokeReport {
  const groups = new Map<string, number>();
  const problems: string[] = [];
  let failed = 0;

  return {
    onTestCaseResult(testCase) {
      const { state, errors = [] } = testCase.result();
      const [group, row] = toNames(testCase);
      if (state === 'passed') groups.set(group, (groups.get(group) ?? 0) + 1);
      else failed += 1;
      if (state === 'passed' && verbose) print(redact(`ok      ${group}: ${row}`));
      if (state === 'failed') {
        print(redact(`FAILED  ${group}: ${row}: ${toLine(errors[0]?.message)}`));
      }
    },
    onTestRunEnd(modules, unhandled) {
      const errors = [...modules.flatMap((module) => module.errors()), ...unhandled];
      problems.push(...errors.map(({ message }) => toLine(message)));
    },
    finish() {
      if (!verbose) for (const [group, count] of groups) print(`ok      ${group}: ${count} rows`);
      for (const problem of problems) print(redact(`FAILED  ${problem}`));
      const passed = [...groups.values()].reduce((sum, count) => sum + count, 0);
      print(`${passed} rows passed, ${failed} failed.`);
      return failed === 0 && problems.length === 0 && passed > 0;
    },
  };
}

/** The name of the group right under the suite, and that of the row. */
function toNames(testCase: TestCase): [group: string, row: string] {
  const [, ...names] = testCase.fullName.split(' > ');
  return names.length > 1 ? [names[0] ?? '', names.slice(1).join(' > ')] : ['keys', names.join()];
}

function toLine(message = 'no reason given'): string {
  const line = stripVTControlCharacters(message).replace(/\s+/g, ' ');
  return line.length > 300 ? `${line.slice(0, 300)}...` : line;
}
