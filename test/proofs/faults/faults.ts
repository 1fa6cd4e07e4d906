import { parseArgs } from 'node:util';
import { runCommand, UsageError } from '../../../infra/cli/usage.ts';
import {
  type Answered,
  type Cell,
  type CellResult,
  canMeet,
  type FaultName,
  faultNames,
} from './cell.ts';
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
const signs = new Map<Answered, string>([
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
  process.stdout.write(`${toMatrixText(results)}\n`);
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

async function runCells(cells: Cell[]): Promise<CellResult[]> {
  const results: CellResult[] = [];
  let opened = 0;
  let opening: Promise<unknown> = Promise.resolve();
  /** One after the other, as `openLane` asks. */
  function openNext(): Promise<Lane> {
    const lane = opening.then(() => openLane(opened++));
    opening = lane;
    return lane;
  }
  async function runInTurn(): Promise<void> {
    while (cells.length > 0) {
      const lane = await openNext();
      for (let ran = 0; ran < CELLS_OF_A_LANE; ran += 1) {
        const cell = cells.shift();
        if (cell) results.push(await runCell(lane, cell));
      }
      await lane.close();
    }
  }
  const lanes = Math.min(LANES, Math.ceil(cells.length / 15));
  await Promise.all(Array.from({ length: lanes }, runInTurn));
  return results;
}

/** A line for each situation, a column for each fault: once, and always. */
function toMatrixText(results: readonly CellResult[]): string {
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

function toCell(results: readonly CellResult[], name: string, fault: FaultName): string {
  const signsOf = (['once', 'always'] as const).map((times) => {
    const isCell = (one: CellResult) =>
      one.situation.name === name && one.fault === fault && one.times === times;
    const result = results.find(isCell);
    if (!result) return '-';
    return result.problem === undefined ? (signs.get(result.answered) ?? '?') : '!';
  });
  return signsOf.join('');
}
