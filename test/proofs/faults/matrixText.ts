import { type Answered, type CellResult, type FaultName, faultNames } from './cell.ts';
import { situations } from './situations.ts';

/** How an answer is shown in the table. */
const signs = new Map<Answered, string>([
  [200, '+'],
  [503, 'r'],
  [412, 'c'],
  ['broken', 'x'],
]);

/** A line for each situation, a column for each fault: once, and always. */
export function toMatrixText(results: readonly CellResult[]): string {
  const faults = faultNames.filter((name) => results.some(({ fault }) => fault === name));
  const width = Math.max(...situations.map(({ name }) => name.length));
  const header = ' '.repeat(width) + faults.map((_, index) => `${index + 1}`.padStart(3)).join('');
  const lines = situations.map(
    ({ name }) =>
      name.padEnd(width) + faults.map((fault) => ` ${toCell(results, name, fault)}`).join(''),
  );
  const slowest = (name: FaultName) =>
    Math.max(...results.filter(({ fault }) => fault === name).map((cell) => cell.milliseconds));
  const legend = faults.map(
    (name, index) =>
      `${`${index + 1}`.padStart(3)}  ${name.padEnd(20)} ${(slowest(name) / 1_000).toFixed(1).padStart(5)} s at most`,
  );
  return [
    header,
    ...lines,
    '',
    'Each cell: the call fails once, and always. + is 200, r 503 with Retry-After, c 412,',
    'x a list that broke off, ! wrong, - not tried.',
    '',
    ...legend,
    '',
  ].join('\n');
}

/** What went wrong, a line each. */
export function toProblemText(results: readonly CellResult[]): string {
  return results
    .filter(({ problem }) => problem !== undefined)
    .map(
      ({ situation, fault, times, problem }) =>
        `${situation.name}, ${fault} ${times}: ${problem}\n`,
    )
    .join('');
}

function toCell(results: readonly CellResult[], name: string, fault: FaultName): string {
  return (['once', 'always'] as const)
    .map((times) => {
      const result = results.find(
        (one) => one.situation.name === name && one.fault === fault && one.times === times,
      );
      if (!result) return '-';
      return result.problem === undefined ? (signs.get(result.answered) ?? '?') : '!';
    })
    .join('');
}
