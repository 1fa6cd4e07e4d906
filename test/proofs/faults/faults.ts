import type { Section } from '../../bench/report.ts';
import { runProof } from '../../support/testCommand.ts';
import { type CellResult, faultNames, type Responded, situations, toCells } from './cells.ts';
import { runCells } from './runCell.ts';

const signs = new Map<Responded | undefined, string>([
  [undefined, '-'],
  [200, '+'],
  [503, 'r'],
  [412, 'c'],
  [409, 's'],
  ['broken', 'x'],
]);

const text = {
  about:
    'Runs every operation while each of its calls to the database fails, with every fault, once and always. Compares each response with what is stored. Exits with status 1 at a wrong success, a 500, a late response, a change that was refused but stored, or an incomplete list that ended normally.',
  options: {
    only: {
      value: 'FAULT',
      choices: faultNames,
      multiple: true,
      about: 'some faults; all without it',
    },
  },
} as const;

await runProof('faults', text, async ({ only = faultNames }) => {
  const faults = faultNames.filter((name) => only.includes(name));
  const results = await runCells(toCells(faults, situations));
  const wrong = results.filter(({ problem }) => problem !== undefined);
  return {
    section: toMatrix(results),
    problems: wrong.map(({ situation, fault, times, problem }) => {
      return `${situation.name}, ${fault} ${times}: ${problem}`;
    }),
  };
});

/** A row for each situation, a column for each fault: once, and always. */
function toMatrix(results: readonly CellResult[]): Section {
  const byFault = [...Map.groupBy(results, ({ fault }) => fault)].reverse();
  const toCell = (cells: readonly CellResult[], name: string) => {
    const [always, once] = cells.filter(({ situation }) => situation.name === name);
    return [once, always].map((one) => (one?.problem ? '!' : signs.get(one?.responded))).join('');
  };
  return {
    title: `Each cell: the call fails once, and always; ${results.length} in all`,
    columns: ['', ...byFault.map((_, index) => `${index + 1}`)],
    rows: situations.map(({ name }) => [name, ...byFault.map(([, cells]) => toCell(cells, name))]),
    notes: [
      '+ is 200, r 503 with Retry-After, c 412, s 409, x a list that was cut off, ! wrong, - not tried.',
      ...byFault.map(([fault, cells], index) => {
        const slowest = Math.max(...cells.map(({ milliseconds }) => milliseconds)) / 1_000;
        return `${index + 1} ${fault}, ${slowest.toFixed(1)} s at most`;
      }),
    ],
  };
}
