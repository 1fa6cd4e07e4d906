import { scaleBand, scaleLinear } from 'd3-scale';

/**
 * Charts as SVG whose places are percentages, so that they fit any width while their text keeps its size. Their colours
 * are classes of the page, for light, dark and paper.
 */
type Place = (value: number) => number;

const toBar = (place: Place, from: number, to: number, kind: string) => {
  const [start, end] = [place(Math.min(from, to)), place(Math.max(from, to))];
  return `<rect class="${kind}" x="${toShort(start)}%" width="${toShort(Math.max(end - start, 0.4))}%" y="3" height="12"/>`;
};

const inRow = (content: string) =>
  `<svg class="bar" height="18" aria-hidden="true">${content}</svg>`;

/** A bar for each amount. */
export function toBars(amounts: readonly number[]): string[] {
  const place = scaleLinear([0, Math.max(0, ...amounts) || 1], [0, 100]);
  return amounts.map((amount) => inRow(toBar(place, 0, amount, 'total')));
}

/** A waterfall: the first amount, what is added and taken away, and the sum. */
export function toBridge(amounts: readonly number[]): string[] {
  const ends = amounts.map((_, index) =>
    amounts.slice(0, index + 1).reduce((sum, one) => sum + one, 0),
  );
  const all = [0, ...ends];
  const place = scaleLinear([Math.min(...all), Math.max(...all) || 1], [0, 100]);
  const bars = amounts.map((amount, index) => {
    const from = index === 0 ? 0 : (ends[index - 1] ?? 0);
    return inRow(
      toBar(place, from, from + amount, index === 0 ? 'total' : amount < 0 ? 'less' : 'more'),
    );
  });
  return [...bars, inRow(toBar(place, 0, ends.at(-1) ?? 0, 'total'))];
}

/** A column for each day, in another colour far above the median, and a line at the accepted number. */
export function toColumnChart(
  days: readonly { readonly day: string; readonly requests: number }[],
  accepted: number,
  toText: (amount: number) => string,
  label: string,
): string {
  const [top, bottom] = [14, 112];
  const sorted = days.map(({ requests }) => requests).sort((one, other) => one - other);
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const most = Math.max(accepted, ...days.map(({ requests }) => requests));
  const height = scaleLinear([0, most], [bottom, top]).nice(3);
  const place = scaleBand(
    days.map(({ day }) => day),
    [8, 100],
  ).padding(0.25);
  const columns = days.map(({ day, requests }) => {
    const y = height(requests);
    const kind = requests > 1.1 * median ? 'more' : 'total';
    return `<rect class="${kind}" x="${toShort(place(day) ?? 0)}%" width="${toShort(place.bandwidth())}%" y="${toShort(y)}" height="${toShort(bottom - y)}"/>`;
  });
  const lines = height.ticks(3).map((tick) => {
    const y = toShort(height(tick));
    return `<line class="grid" x1="8%" x2="100%" y1="${y}" y2="${y}"/><text x="7%" y="${y}" dy="4" text-anchor="end">${toText(tick)}</text>`;
  });
  const names = days
    .filter((_, index) => index % 7 === 0)
    .map(({ day }) => {
      const x = (place(day) ?? 0) + place.bandwidth() / 2;
      return `<text x="${toShort(x)}%" y="127" text-anchor="middle">${Number(day.slice(8))}</text>`;
    });
  const y = toShort(height(accepted));
  const line = `<line class="mark" x1="8%" x2="100%" y1="${y}" y2="${y}"/>`;
  return `<svg class="chart" height="132" role="img" aria-label="${label}">${lines.join('')}${columns.join('')}${line}${names.join('')}</svg>`;
}

/** The expected amount with its band, below and above other amounts. */
export function toRangeChart(
  expected: number,
  band: { readonly from: number; readonly to: number } | undefined,
  marks: readonly (readonly [name: string, amount: number | undefined])[],
  toText: (amount: number) => string,
  label: string,
): string {
  const known = marks.flatMap(([name, amount]) =>
    amount === undefined ? [] : [[name, amount] as const],
  );
  const most = Math.max(expected, band?.to ?? 0, ...known.map(([, amount]) => amount));
  const place = scaleLinear([0, most * 1.05], [0, 100]).nice(4);
  const toLabel = (amount: number, text: string, y: number) => {
    const x = place(amount);
    const anchor = x > 80 ? 'end' : x < 20 ? 'start' : 'middle';
    return `<text x="${toShort(x)}%" y="${y}" text-anchor="${anchor}">${text}</text>`;
  };
  const ofMarks = known.map(([name, amount], index) => {
    const x = toShort(place(amount));
    const [from, to, y] = index === 0 ? [18, 58, 12] : [30, 66, 80];
    return `<line class="mark" x1="${x}%" x2="${x}%" y1="${from}" y2="${to}"/>${toLabel(amount, `${name} ${toText(amount)}`, y)}`;
  });
  const ofBand = band
    ? `<rect class="band" x="${toShort(place(band.from))}%" width="${toShort(place(band.to) - place(band.from))}%" y="30" height="24"/>`
    : '';
  const x = toShort(place(expected));
  return `<svg class="chart" height="86" role="img" aria-label="${label}"><rect class="soft" x="0" width="${x}%" y="36" height="12"/>${ofBand}<line class="point" x1="${x}%" x2="${x}%" y1="28" y2="56"/><line class="grid" x1="0" x2="100%" y1="58" y2="58"/>${ofMarks.join('')}</svg>`;
}

const toShort = (amount: number) => `${Math.round(amount * 100) / 100}`;
