import { toColumns } from '../../infra/cli/output.ts';

export interface Section {
  readonly title: string;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Cell[])[];
  readonly goals?: readonly Goal[];
  /** What a reader must know to read the figures right. */
  readonly notes?: readonly string[];
}

/** Numbers have no decimal places, or so many. */
type Column = string | readonly [name: string, digits: number];

/** A summary shows the range that holds half of its measurements. */
export type Cell = string | number | Summary | undefined;

export interface Goal {
  readonly name: string;
  readonly value: number;
  readonly atMost: number;
}

export function toText({ title, columns, rows, goals = [], notes = [] }: Section): string {
  const cells = rows.map((row) => row.map((cell, index) => toCellText(cell, columns[index])));
  const names = columns.map((column) => (typeof column === 'string' ? column : column[0]));
  const table = toColumns([names, ...cells]);
  return [title, '', table, '', ...goals.map(toGoalText), ...notes, ''].join('\n');
}

export interface Summary {
  readonly median: number;
  /** Half of the measurements lie between these two. */
  readonly lower: number;
  readonly upper: number;
}

export function summarize(samples: readonly number[]): Summary {
  const sorted = samples.toSorted((one, other) => one - other);
  const toQuantile = (share: number) => {
    const place = (sorted.length - 1) * share;
    const below = sorted[Math.floor(place)] ?? Number.NaN;
    const above = sorted[Math.ceil(place)] ?? Number.NaN;
    return below + (above - below) * (place - Math.floor(place));
  };
  return { median: toQuantile(0.5), lower: toQuantile(0.25), upper: toQuantile(0.75) };
}

/**
 * Calls `measure` for each contender in turn, in rounds. Each round starts with another contender, so that
 * other work on the machine affects all of them alike.
 */
export async function interleave<Contender, Sample>(
  contenders: readonly Contender[],
  rounds: number,
  measure: (contender: Contender) => Promise<Sample>,
): Promise<Map<Contender, Sample[]>> {
  const samples = new Map<Contender, Sample[]>(contenders.map((contender) => [contender, []]));
  for (let round = 0; round < rounds; round += 1) {
    const first = round % contenders.length;
    for (const contender of [...contenders.slice(first), ...contenders.slice(0, first)]) {
      samples.get(contender)?.push(await measure(contender));
    }
  }
  return samples;
}

function toCellText(cell: Cell, column: Column = ''): string {
  if (cell === undefined) return '-';
  if (typeof cell === 'string') return cell;
  const digits = typeof column === 'string' ? 0 : column[1];
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const { format } = new Intl.NumberFormat('en-US', options);
  if (typeof cell === 'number') return format(cell);
  return `${format(cell.median)} (${format(cell.lower)}–${format(cell.upper)})`;
}

function toGoalText({ name, value, atMost }: Goal): string {
  return `${value <= atMost ? 'met' : 'MISSED'}: ${name} is ${value.toFixed(2)}, at most ${atMost}`;
}
