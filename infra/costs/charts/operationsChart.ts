import { components, componentLabels as labels } from '../model/components.ts';
import type { OperationCost } from '../model/operationCosts.ts';
import { toLine, toRect, toSvg, toText, toTextWidth, WIDTH } from './svg.ts';

const MARGIN = 20;
/** Behind the longest bar, for its total. */
const TOTAL_WIDTH = 80;
const BAR_HEIGHT = 28;
/** From one bar to the next, with the name above it. */
const PITCH = 68;
const LEGEND_COLUMNS = 4;
/** Between two components, so that they are told apart without their colours. */
const GAP = 2;

/**
 * Bars of dollars per million requests, stacked by component.
 * @param costs some ten at most, and none a hundred times as dear as another, which would leave that one no room
 */
export function toOperationsChart(costs: readonly OperationCost[]): string {
  const used = components.filter((one) => costs.some((cost) => cost.components[one] > 0));
  const most = Math.ceil(Math.max(...costs.map((cost) => cost.dollarsPerMillion)));
  const toX = (dollars: number) => MARGIN + (dollars / most) * (WIDTH - 2 * MARGIN - TOTAL_WIDTH);
  const top = 62 + 30 * Math.ceil(used.length / LEGEND_COLUMNS);
  const bottom = top + costs.length * PITCH;
  return toSvg({
    title: 'What a million requests cost, by component',
    description: `${costs.map((cost) => `${toName(cost)} $${cost.dollarsPerMillion.toFixed(2)}`).join('; ')}. Dollars per million requests answered 200.`,
    height: bottom + 62,
    shapes: [
      toText(MARGIN, 34, 'What a million requests cost, by component', { classes: 'ink title' }),
      ...used.flatMap((component, index) => {
        const x = MARGIN + ((index % LEGEND_COLUMNS) * (WIDTH - 2 * MARGIN)) / LEGEND_COLUMNS;
        const y = 68 + 30 * Math.floor(index / LEGEND_COLUMNS);
        return [toRect(component, x, y - 15, 18, 18), toText(x + 26, y, labels[component])];
      }),
      ...toAxis(most, toX, top, bottom),
      ...costs.flatMap((cost, index) => toBar(cost, top + index * PITCH, toX)),
    ],
  });
}

function toAxis(
  most: number,
  toX: (dollars: number) => number,
  top: number,
  bottom: number,
): string[] {
  const step = toStep(most);
  const ticks = Array.from({ length: Math.floor(most / step) + 1 }, (_, index) => index * step);
  return [
    ...ticks.flatMap((dollars) => [
      toLine('grid', [
        [toX(dollars), top + 8],
        [toX(dollars), bottom + 4],
      ]),
      toText(toX(dollars), bottom + 24, String(dollars), {
        classes: 'quiet small',
        anchor: 'middle',
      }),
    ]),
    toText(MARGIN, bottom + 50, 'dollars per million requests', { classes: 'quiet small' }),
  ];
}

/** Of 1, 2, 5, 10, 20 and so on, what makes eight ticks at most. */
function toStep(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most / 8));
  return power * ([1, 2, 5].find((factor) => most / (power * factor) <= 8) ?? 10);
}

function toBar(cost: OperationCost, top: number, toX: (dollars: number) => number): string[] {
  const y = top + 30;
  const shapes = [toText(MARGIN, top + 22, toName(cost))];
  let from = 0;
  for (const component of components) {
    const dollars = cost.components[component];
    if (dollars === 0) continue;
    const [start, end] = [toX(from), toX(from + dollars)];
    const width = Math.max(GAP, end - start - GAP);
    shapes.push(toRect(component, start, y, width, BAR_HEIGHT));
    const label = `${labels[component]} ${dollars.toFixed(2)}`;
    if (toTextWidth(label, 17) < width - 8) {
      shapes.push(toText(start + 6, y + 20, label, { classes: 'page small' }));
    }
    from += dollars;
  }
  const total = `$${cost.dollarsPerMillion.toFixed(2)}`;
  return [...shapes, toText(toX(from) + 6, y + 21, total)];
}

/** With what a client has to do for it. */
function toName({ operationId, answer, entries }: OperationCost): string {
  const how = answer === '200' ? '' : `, ${answer.replace('200 ', '')}`;
  const size = entries === undefined ? '' : `, ${entries.toLocaleString('en-US')} entries`;
  return `${operationId}${size}${how}`;
}
