import { type Line, parseCsvLine, readLines } from '../../cli/lines.ts';
import type { BilledLine } from './billedLine.ts';
import { defineLineParser, type LineParser } from './exportColumns.ts';

/**
 * The lines of a CSV file, gzip by its name or not. The first one names the columns.
 * @throws {Error} that names the line which cannot be read
 */
export async function* readCsv(file: string, needsStart: boolean): AsyncGenerator<BilledLine[]> {
  let parser: LineParser | undefined;
  let width = 0;

  function parse(line: Line): BilledLine[] {
    const cells = toCells(line);
    if (parser === undefined) {
      parser = defineLineParser(cells, needsStart);
      width = cells.length;
      return [];
    }
    if (cells.length === width) return [parser.parse(cells)];
    throw new Error(`it has ${cells.length} fields, and the first line has ${width}`);
  }

  for await (const lines of readLines(file)) {
    yield lines.flatMap((line) => {
      try {
        return line.text === '' && !line.problem ? [] : parse(line);
      } catch (error) {
        const { message } = error as Error;
        throw new Error(`${file} cannot be read at line ${line.number}: ${message}.`);
      }
    });
  }
  if (!parser) throw new Error(`${file} cannot be read: it is empty.`);
}

/** A field cannot go on in the next line, which those of AWS's exports never do. */
function toCells({ text, problem }: Line): string[] {
  if (problem) throw new Error(`it ${problem}`);
  const cells = parseCsvLine(text);
  if (cells) return cells;
  throw new Error('its quotes do not match');
}
