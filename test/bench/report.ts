/** What a benchmark found, as a table and as data. */
export interface Section {
  readonly title: string;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Cell[])[];
  readonly goals?: readonly Goal[];
  /** What a reader has to know to read the figures right. */
  readonly notes?: readonly string[];
}

interface Column {
  readonly name: string;
  /** Decimal places; 0 by default. */
  readonly digits?: number;
}

/** A summary is shown with the range that holds half of its measurements. */
export type Cell = string | number | Summary | undefined;

export interface Goal {
  readonly name: string;
  readonly value: number;
  readonly atMost: number;
}

export function toText({ title, columns, rows, goals = [], notes = [] }: Section): string {
  const cells = rows.map((row) => row.map((cell, index) => toCellText(cell, columns[index])));
  const lines = toLines([columns.map(({ name }) => name), ...cells], rows[0] ?? []);
  return [
    title,
    '',
    ...lines,
    '',
    ...goals.map(toGoalText),
    ...notes.map((note) => `  ${note}`),
    '',
  ].join('\n');
}

/** What many measurements of one thing come to. */
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
 * Calls `measure` for each contender in turn, round after round and from another start each time, so
 * that whatever else the machine does meets them all alike.
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

/** A column is as wide as its widest text; texts stand at its left, and numbers at its right. */
function toLines(table: readonly (readonly string[])[], kinds: readonly Cell[]): string[] {
  return table.map((row) => {
    const padded = row.map((text, index) => {
      const width = Math.max(...table.map((other) => other[index]?.length ?? 0));
      return typeof kinds[index] === 'string' ? text.padEnd(width) : text.padStart(width);
    });
    return `  ${padded.join('  ')}`.trimEnd();
  });
}

function toCellText(cell: Cell, column: Column | undefined): string {
  if (cell === undefined) return '-';
  if (typeof cell === 'string') return cell;
  const digits = column?.digits ?? 0;
  const { format } = new Intl.NumberFormat('en-US', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  if (typeof cell === 'number') return format(cell);
  return `${format(cell.median)} (${format(cell.lower)}–${format(cell.upper)})`;
}

function toGoalText({ name, value, atMost }: Goal): string {
  return `  ${value <= atMost ? 'met' : 'MISSED'}: ${name} is ${value.toFixed(2)}, at most ${atMost}`;
}
