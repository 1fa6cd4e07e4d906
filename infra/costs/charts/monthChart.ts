import { toLine, toRect, toSvg, toText, WIDTH } from './svg.ts';

/** A month's bill at some traffic, in dollars. */
export interface MonthPoint {
  readonly requests: number;
  readonly fixed: number;
  readonly total: number;
}

const LEFT = 92;
const RIGHT = WIDTH - 34;
const TOP = 92;
const BOTTOM = 442;

/**
 * The month's bill against its requests, both by powers of ten, with the fixed part.
 * @param points in rising order of requests, from one power of ten to another
 */
export function toMonthChart(points: readonly MonthPoint[]): string {
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last) throw new Error('A chart needs points.');
  const decades = toDecades(first.requests, last.requests);
  const dollars = toDecades(1, last.total);
  const toX = toScale(decades, LEFT, RIGHT);
  const toY = toScale(dollars, BOTTOM, TOP);
  const marked = points.filter(({ requests }) => decades.includes(requests));
  const title = "A month's bill by its requests";
  const isAtEnd = (one: MonthPoint) => one === last;
  return toSvg({
    title,
    description: `${marked.map(({ requests, total }) => `${toCount(requests)} requests $${toShort(total)}`).join('; ')}; of each, $${toShort(first.fixed)} are fixed.`,
    height: BOTTOM + 68,
    shapes: [
      toText(20, 34, title, { classes: 'ink title' }),
      toText(20, 66, 'dollars a month', { classes: 'quiet small' }),
      ...dollars.flatMap((amount) => [
        toLine('grid', [
          [LEFT, toY(amount)],
          [RIGHT, toY(amount)],
        ]),
        toText(LEFT - 8, toY(amount) + 6, `$${amount.toLocaleString('en-US')}`, {
          classes: 'quiet small',
          anchor: 'end',
        }),
      ]),
      ...decades.map((count) =>
        toText(toX(count), BOTTOM + 26, toCount(count), {
          classes: 'quiet small',
          anchor: 'middle',
        }),
      ),
      toText(RIGHT, BOTTOM + 54, 'requests a month', { classes: 'quiet small', anchor: 'end' }),
      toLine(
        'line lambda',
        points.map(({ requests, fixed }) => [toX(requests), toY(fixed)]),
      ),
      toText(RIGHT, toY(last.fixed) + 26, `fixed: $${toShort(last.fixed)}`, {
        classes: 'lambda',
        anchor: 'end',
      }),
      toLine(
        'line gateway',
        points.map(({ requests, total }) => [toX(requests), toY(total)]),
      ),
      ...marked.flatMap((point) => [
        toRect('gateway', toX(point.requests) - 6, toY(point.total) - 6, 12, 12),
        toText(
          toX(point.requests) + (isAtEnd(point) ? -14 : 0),
          toY(point.total) + (isAtEnd(point) ? 4 : -16),
          `${isAtEnd(point) ? 'total: ' : ''}$${toShort(point.total)}`,
          { classes: 'gateway', anchor: isAtEnd(point) || point !== first ? 'end' : 'start' },
        ),
      ]),
    ],
  });
}

/** The powers of ten around a range. */
function toDecades(from: number, to: number): number[] {
  const first = Math.floor(Math.log10(from) + 1e-9);
  const last = Math.ceil(Math.log10(to) - 1e-9);
  return Array.from({ length: last - first + 1 }, (_, index) => 10 ** (first + index));
}

function toScale(decades: readonly number[], start: number, end: number) {
  const [from, to] = [Math.log10(decades[0] ?? 1), Math.log10(decades.at(-1) ?? 10)];
  return (value: number) => start + ((Math.log10(value) - from) / (to - from)) * (end - start);
}

function toCount(requests: number): string {
  if (requests >= 1e9) return `${requests / 1e9}G`;
  return requests >= 1e6 ? `${requests / 1e6}M` : `${requests / 1e3}k`;
}

function toShort(dollars: number): string {
  return dollars < 100 ? dollars.toFixed(2) : Math.round(dollars).toLocaleString('en-US');
}
