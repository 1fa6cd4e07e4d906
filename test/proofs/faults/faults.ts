import { type Section, toText } from '../../bench/report.ts';
import { runTestCommand } from '../../support/testCommand.ts';
import {
  type Cell,
  type CellResult,
  faultNames,
  type Responded,
  situations,
  toCells,
} from './cells.ts';
import { type Lane, openLane, runCell } from './runCell.ts';

/**
 * If all its attempts fail, a call takes 10 or 20 of the 500 retry tokens that the SDK gives a client. Without
 * tokens the SDK retries nothing, so a lane gets new functions before that.
 */
const CELLS_OF_A_LANE = 40;
/** Stages that run at once; at any time, most of them wait. */
const LANES = 24;

const signs = new Map<Responded | undefined, string>([
  [undefined, '-'],
  [200, '+'],
  [503, 'r'],
  [412, 'c'],
  ['broken', 'x'],
]);

const text = {
  about:
    'Runs every operation while each of its calls to the database fails, with every fault, once and always. Compares each response with what is stored. Exits with status 1 at a wrong success, a 500, a late response, an update that was refused but stored, or an incomplete list that ended normally.',
  options: {
    only: {
      value: 'FAULT',
      choices: faultNames,
      multiple: true,
      about: 'some faults; all without it',
    },
  },
} as const;

await runTestCommand('faults', text, async ({ only = faultNames }) => {
  const faults = faultNames.filter((name) => only.includes(name));
  const started = performance.now();
  const results = await runCells(toCells(faults, situations));
  const seconds = Math.round((performance.now() - started) / 1_000);
  process.stdout.write(`${toText(toMatrix(results))}\n`);
  const wrong = results.filter(({ problem }) => problem !== undefined);
  for (const { situation, fault, times, problem } of wrong) {
    process.stdout.write(`${situation.name}, ${fault} ${times}: ${problem}\n`);
  }
  process.stdout.write(`${results.length} cells in ${seconds} s, ${wrong.length} wrong\n`);
  if (wrong.length > 0) process.exitCode = 1;
});

async function runCells(cells: readonly Cell[]): Promise<CellResult[]> {
  const results: CellResult[] = [];
  let opening: Promise<unknown> = Promise.resolve();
  /** In sequence, as `openLane` requires. */
  function openNext(): Promise<Lane> {
    const lane = opening.then(openLane);
    opening = lane;
    return lane;
  }
  const queue = cells.entries();
  async function runInTurn(): Promise<void> {
    for (let next = queue.next(); !next.done; ) {
      const lane = await openNext();
      for (let ran = 0; ran < CELLS_OF_A_LANE && !next.done; ran += 1) {
        const [index, cell] = next.value;
        results[index] = await runCell(lane, cell);
        next = queue.next();
      }
      await lane.close();
    }
  }
  const lanes = Math.min(LANES, Math.ceil(cells.length / 15));
  await Promise.all(Array.from({ length: lanes }, runInTurn));
  return results;
}

/** A row for each situation, a column for each fault: once, and always. */
function toMatrix(results: readonly CellResult[]): Section {
  const byFault = [...Map.groupBy(results, ({ fault }) => fault)].reverse();
  const toCell = (cells: readonly CellResult[], name: string) => {
    const [always, once] = cells.filter(({ situation }) => situation.name === name);
    return [once, always].map((one) => (one?.problem ? '!' : signs.get(one?.responded))).join('');
  };
  return {
    title: 'Each cell: the call fails once, and always',
    columns: ['', ...byFault.map((_, index) => `${index + 1}`)],
    rows: situations.map(({ name }) => [name, ...byFault.map(([, cells]) => toCell(cells, name))]),
    notes: [
      '+ is 200, r 503 with Retry-After, c 412, x a list that was cut off, ! wrong, - not tried.',
      ...byFault.map(([fault, cells], index) => {
        const slowest = Math.max(...cells.map(({ milliseconds }) => milliseconds)) / 1_000;
        return `${index + 1} ${fault}, ${slowest.toFixed(1)} s at most`;
      }),
    ],
  };
}
