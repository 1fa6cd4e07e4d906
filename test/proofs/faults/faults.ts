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

const help = `Usage: npm run faults -- [options]

Runs every operation while each of its calls to the database fails, in every way, once and always, and
holds each answer against what is stored. Ends with status 1 at a wrong success, a 500, a late answer, an
update that was refused and is stored, or a list that ended and is not whole.

Options:
  --only FAULT    one of ${faultNames.slice(0, 3).join(', ')}, …; may be repeated (default: all)
  --lanes N       stages that run at once, most of which wait at any time (default: 24)
  --json          print every cell as JSON
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
  const options = parseFaultOptions(args);
  if (options.help) return void process.stdout.write(help);
  // What the functions log of each failure is not what this command is asked for.
  for (const method of ['info', 'error', 'warn'] as const) console[method] = () => {};
  const started = performance.now();
  const results = await runCells(options.lanes, toCells(options.faults));
  const seconds = Math.round((performance.now() - started) / 1_000);
  const problems = toProblemText(results);
  const wrong = results.filter(({ problem }) => problem !== undefined).length;
  if (options.json) {
    const cells = results.map(({ situation, ...cell }) => ({ ...cell, situation: situation.name }));
    process.stdout.write(`${JSON.stringify({ seconds, wrong, cells }, null, 2)}\n`);
  } else {
    const sum = `${results.length} cells in ${seconds} s, ${wrong} wrong\n`;
    process.stdout.write(`${toMatrixText(results)}\n${problems}${sum}`);
  }
  if (wrong > 0) process.exitCode = 1;
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

async function runCells(lanes: number, cells: Cell[]): Promise<CellResult[]> {
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
  await Promise.all(Array.from({ length: lanes }, runInTurn));
  return results;
}

interface FaultOptions {
  readonly faults: readonly FaultName[];
  readonly lanes: number;
  readonly json: boolean;
  readonly help: boolean;
}

/** @throws {UsageError} or what `parseArgs` throws, when the arguments are not ones that `help` tells of */
function parseFaultOptions(args: string[]): FaultOptions {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string', multiple: true, default: [...faultNames] },
      lanes: { type: 'string', default: '24' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const { only, lanes, ...others } = values;
  const wrong = only.find((name) => !faultNames.some((known) => known === name));
  if (wrong !== undefined) {
    throw new UsageError(`Option '--only' must be one of ${faultNames.join(', ')}, not '${wrong}'`);
  }
  if (!/^[1-9]\d?$/.test(lanes)) throw new UsageError(`Option '--lanes' must be 1 to 99`);
  return {
    ...others,
    lanes: Number(lanes),
    faults: faultNames.filter((name) => only.includes(name)),
  };
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

/** What went wrong, a line each. */
function toProblemText(results: readonly CellResult[]): string {
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
