import { scaleBand, scaleLinear } from 'd3-scale';

// Charts as SVG whose places are percentages, so that they fit any width while their text keeps its size. Their colours
// are classes of the page, for light, dark and paper.

/** A bar for each amount. */
export function drawBars(amounts: readonly number[]): string[] {
  const place = scaleLinear([0, Math.max(0, ...amounts) || 1], [0, 100]);
  return amounts.map((amount) => drawRow(place, 0, amount, 'total'));
}

/** A waterfall: the first amount, what is added and taken away, and the sum. */
export function drawBridge(amounts: readonly number[]): string[] {
  const ends = [0];
  for (const amount of amounts) ends.push((ends.at(-1) ?? 0) + amount);
  const place = scaleLinear([Math.min(...ends), Math.max(...ends) || 1], [0, 100]);
  const bars = amounts.map((amount, index) => {
    const kind = index === 0 ? 'total' : amount < 0 ? 'less' : 'more';
    return drawRow(place, ends[index] ?? 0, ends[index + 1] ?? 0, kind);
  });
  return [...bars, drawRow(place, 0, ends.at(-1) ?? 0, 'total')];
}

/** A column for each day, in another colour far above the median, and a line at the accepted number. */
export function drawDays(
  days: readonly { readonly day: string; readonly requests: number }[],
  accepted: number,
  toText: (amount: number) => string,
  label: string,
): string {
  const [top, bottom] = [14, 112];
  const requests = days.map((one) => one.requests);
  const median = requests.toSorted((one, other) => one - other)[Math.floor(days.length / 2)] ?? 0;
  const y = scaleLinear([0, Math.max(accepted, ...requests)], [bottom, top]).nice(3);
  const names = days.map(({ day }) => day);
  const x = scaleBand(names, [8, 100]).padding(0.25);
  const width = x.bandwidth();
  const columns = days.map((one) => {
    const kind = one.requests > 1.1 * median ? 'more' : 'total';
    const height = y(one.requests);
    return drawBox(kind, x(one.day) ?? 0, width, height, bottom - height);
  });
  const lines = y.ticks(3).map((tick) => {
    const text = `<text x="7%" y="${toShort(y(tick))}" dy="4" text-anchor="end">${toText(tick)}</text>`;
    return drawAcross('grid', 8, y(tick)) + text;
  });
  const weeks = names
    .filter((_, index) => index % 7 === 0)
    .map((day) => {
      const middle = toShort((x(day) ?? 0) + width / 2);
      return `<text x="${middle}%" y="127" text-anchor="middle">${Number(day.slice(8))}</text>`;
    });
  const mark = drawAcross('mark', 8, y(accepted));
  return drawChart(132, label, [...lines, ...columns, mark, ...weeks]);
}

/** The expected amount with its band, below and above other amounts. */
export function drawRange(
  expected: number,
  band: { readonly from: number; readonly to: number } | undefined,
  marks: Readonly<Record<string, number | undefined>>,
  toText: (amount: number) => string,
  label: string,
): string {
  const known = Object.entries(marks).filter(
    (mark): mark is [string, number] => mark[1] !== undefined,
  );
  const most = Math.max(expected, band?.to ?? 0, ...known.map(([, amount]) => amount));
  const place = scaleLinear([0, most * 1.05], [0, 100]).nice(4);
  const ofMarks = known.map(([name, amount], index) => {
    const x = place(amount);
    const anchor = x > 80 ? 'end' : x < 20 ? 'start' : 'middle';
    const [from, to, y] = index === 0 ? ([18, 58, 12] as const) : ([30, 66, 80] as const);
    const text = `<text x="${toShort(x)}%" y="${y}" text-anchor="${anchor}">${name} ${toText(amount)}</text>`;
    return drawUpright('mark', x, from, to) + text;
  });
  return drawChart(86, label, [
    drawBox('soft', 0, place(expected), 36, 12),
    band ? drawBox('band', place(band.from), place(band.to) - place(band.from), 30, 24) : '',
    drawUpright('point', place(expected), 28, 56),
    drawAcross('grid', 0, 58),
    ...ofMarks,
  ]);
}

const drawRow = (place: (value: number) => number, from: number, to: number, kind: string) => {
  const [start, end] = [place(Math.min(from, to)), place(Math.max(from, to))];
  return `<svg class="bar" height="18" aria-hidden="true">${drawBox(kind, start, Math.max(end - start, 0.4), 3, 12)}</svg>`;
};

const drawBox = (kind: string, x: number, width: number, y: number, height: number) =>
  `<rect class="${kind}" x="${toShort(x)}%" width="${toShort(width)}%" y="${toShort(y)}" height="${toShort(height)}"/>`;

/** Horizontal, from a place to the end, or vertical. */
const drawAcross = (kind: string, from: number, y: number) =>
  `<line class="${kind}" x1="${from}%" x2="100%" y1="${toShort(y)}" y2="${toShort(y)}"/>`;
const drawUpright = (kind: string, x: number, from: number, to: number) =>
  `<line class="${kind}" x1="${toShort(x)}%" x2="${toShort(x)}%" y1="${from}" y2="${to}"/>`;

const drawChart = (height: number, label: string, parts: readonly string[]) =>
  `<svg class="chart" height="${height}" role="img" aria-label="${label}">${parts.join('')}</svg>`;

const toShort = (amount: number) => `${Math.round(amount * 100) / 100}`;
