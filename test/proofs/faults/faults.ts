import { runCommand } from '../../../infra/cli/usage.ts';
import { type Cell, type CellResult, canMeet } from './cell.ts';
import { help, parseFaultOptions } from './faultOptions.ts';
import { type Lane, openLane } from './lane.ts';
import { toMatrixText, toProblemText } from './matrixText.ts';
import { runCell } from './runCell.ts';
import { situations } from './situations.ts';

/**
 * A call that fails to its end takes 10 or 20 of the 500 tokens that the SDK gives a client for repetitions, and
 * without any left it repeats none: a lane's functions are new before that.
 */
const CELLS_OF_A_LANE = 40;

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
