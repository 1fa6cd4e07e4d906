import { operationIds } from '../../../shared/contract/operations.ts';
import { runProof } from '../../support/testCommand.ts';
import { type CellResult, faultNames, situations, toCells } from './cells.ts';
import { runCells } from './runCell.ts';

const text = {
  about:
    'Runs every operation while each of its calls to the database fails with every fault. Compares each response with what is stored. Exits with status 1 at a wrong success, a 500, a late response, a change that was refused but stored, or an incomplete list that ended normally.',
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
    section: {
      title: `${situations.length} situations, ${faults.length} faults, ${results.length} cells`,
      columns: [
        ...['operation', 'situations', 'cells', '200', '409', '412', '503', 'cut off'],
        ['slowest, s', 1],
      ],
      rows: operationIds.map((id) =>
        toRow(
          id,
          results.filter(({ situation }) => situation.name.startsWith(`${id}:`)),
        ),
      ),
      notes: ['Cut off are lists whose later page failed.'],
    },
    problems: wrong.map(({ situation, fault, times, problem }) => {
      return `${situation.name}, ${fault} ${times}: ${problem}`;
    }),
  };
});

function toRow(operationId: string, cells: readonly CellResult[]) {
  const count = (sought: CellResult['responded']) =>
    cells.filter(({ responded }) => responded === sought).length;
  return [
    ...[operationId, new Set(cells.map(({ situation }) => situation)).size, cells.length],
    ...[count(200), count(409), count(412), count(503), count('broken')],
    Math.max(0, ...cells.map(({ milliseconds }) => milliseconds)) / 1_000,
  ];
}
