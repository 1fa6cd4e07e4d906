/** What a benchmark found, as a table and as data. */
export interface Section {
  readonly title: string;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Cell[])[];
  readonly goals?: readonly Goal[];
  /** What a reader has to know to read the figures right. */
  readonly notes?: readonly string[];
}

export interface Column {
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
  if (samples.length === 0) throw new Error('There is nothing to summarize.');
  const sorted = samples.toSorted((one, other) => one - other);
  return {
    median: toQuantile(sorted, 0.5),
    lower: toQuantile(sorted, 0.25),
    upper: toQuantile(sorted, 0.75),
  };
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

function toLines(table: readonly (readonly string[])[], kinds: readonly Cell[]): string[] {
  const widths = kinds.map((_, index) =>
    Math.max(...table.map((row) => (row[index] ?? '').length)),
  );
  return table.map((row) => {
    const padded = row.map((text, index) => {
      const width = widths[index] ?? 0;
      return typeof kinds[index] === 'string' ? text.padEnd(width) : text.padStart(width);
    });
    return `  ${padded.join('  ')}`.trimEnd();
  });
}

function toCellText(cell: Cell, column: Column | undefined): string {
  if (cell === undefined) return '-';
  if (typeof cell === 'string') return cell;
  const toNumberText = (value: number) =>
    value.toLocaleString('en-US', {
      minimumFractionDigits: column?.digits ?? 0,
      maximumFractionDigits: column?.digits ?? 0,
    });
  if (typeof cell === 'number') return toNumberText(cell);
  const [median, lower, upper] = [cell.median, cell.lower, cell.upper].map(toNumberText);
  return `${median} (${lower}–${upper})`;
}

function toGoalText({ name, value, atMost }: Goal): string {
  return `  ${value <= atMost ? 'met' : 'MISSED'}: ${name} is ${value.toFixed(2)}, at most ${atMost}`;
}

function toQuantile(sorted: readonly number[], share: number): number {
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)] ?? 0;
  const above = sorted[Math.ceil(place)] ?? 0;
  return below + (above - below) * (place - Math.floor(place));
}
