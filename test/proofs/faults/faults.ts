import { parseArgs } from 'node:util';
import { runCommand, UsageError } from '../../../infra/cli/usage.ts';
import { type Section, toText } from '../../bench/report.ts';
import { type Answered, type Cell, type CellResult, canMeet, faultNames } from './cell.ts';
import { type Lane, openLane } from './lane.ts';
import { runCell } from './runCell.ts';
import { situations } from './situations.ts';

/**
 * A call that fails to its end takes 10 or 20 of the 500 tokens that the SDK gives a client for repetitions, and
 * without any left it repeats none: a lane's functions are new before that.
 */
const CELLS_OF_A_LANE = 40;
/** Stages that run at once, most of which wait at any time. */
const LANES = 24;

const help = `Usage: npm run faults -- [options]

Runs every operation while each of its calls to the database fails, in every way, once and always, and
holds each answer against what is stored. Ends with status 1 at a wrong success, a 500, a late answer, an
update that was refused and is stored, or a list that ended and is not whole.

Options:
  --only FAULT    one of ${faultNames.slice(0, 3).join(', ')}, …; may be repeated (default: all)
  --help          show this
`;

/** How an answer is shown in the table. */
const signs = new Map<Answered | undefined, string>([
  [undefined, '-'],
  [200, '+'],
  [503, 'r'],
  [412, 'c'],
  ['broken', 'x'],
]);

await runCommand(async (args) => {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string', multiple: true, default: faultNames },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return void process.stdout.write(help);
  const faults = faultNames.filter((name) => values.only.includes(name));
  if (new Set(values.only).size > faults.length) {
    throw new UsageError(`Option '--only' must be one of ${faultNames.join(', ')}`);
  }
  // What the functions log of each failure is not what this command is asked for.
  for (const method of ['info', 'error', 'warn'] as const) console[method] = () => {};
  const started = performance.now();
  const results = await runCells(toCells(faults));
  const seconds = Math.round((performance.now() - started) / 1_000);
  process.stdout.write(`${toText(toMatrix(results))}\n`);
  const wrong = results.filter(({ problem }) => problem !== undefined);
  for (const { situation, fault, times, problem } of wrong) {
    process.stdout.write(`${situation.name}, ${fault} ${times}: ${problem}\n`);
  }
  process.stdout.write(`${results.length} cells in ${seconds} s, ${wrong.length} wrong\n`);
  if (wrong.length > 0) process.exitCode = 1;
});
// Engines and connections would hold the process.
process.exit();

/** The slow ones first, so that no lane is left with one at the end. */
function toCells(faults: readonly Cell['fault'][]): Cell[] {
  return faults.toReversed().flatMap((fault) =>
    situations
      .filter((situation) => canMeet(situation, fault))
      .flatMap((situation): Cell[] => [
        { situation, fault, times: 'always' },
        { situation, fault, times: 'once' },
      ]),
  );
}

/** @returns the results in the order of the cells */
async function runCells(cells: readonly Cell[]): Promise<CellResult[]> {
  const results: CellResult[] = [];
  let opening: Promise<unknown> = Promise.resolve();
  /** One after the other, as `openLane` asks. */
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

/** A line for each situation, a column for each fault: once, and always. */
function toMatrix(results: readonly CellResult[]): Section {
  const byFault = [...Map.groupBy(results, ({ fault }) => fault)].reverse();
  const toCell = (cells: readonly CellResult[], name: string) => {
    const [always, once] = cells.filter(({ situation }) => situation.name === name);
    return [once, always].map((one) => (one?.problem ? '!' : signs.get(one?.answered))).join('');
  };
  return {
    title: 'Each cell: the call fails once, and always',
    columns: ['', ...byFault.map((_, index) => `${index + 1}`)].map((name) => ({ name })),
    rows: situations.map(({ name }) => [name, ...byFault.map(([, cells]) => toCell(cells, name))]),
    notes: [
      '+ is 200, r 503 with Retry-After, c 412, x a list that broke off, ! wrong, - not tried.',
      ...byFault.map(([fault, cells], index) => {
        const slowest = Math.max(...cells.map(({ milliseconds }) => milliseconds)) / 1_000;
        return `${index + 1} ${fault}, ${slowest.toFixed(1)} s at most`;
      }),
    ],
  };
}
