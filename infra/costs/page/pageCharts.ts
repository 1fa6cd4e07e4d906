import { componentLabels, components } from '../model/components.ts';
import type { OperationCost } from '../model/operationCosts.ts';
import type { Month } from '../report/costReport.ts';

/** Bars of dollars per million requests. https://mermaid.js.org/syntax/xyChart.html */
export function toRequestsChart(costs: readonly OperationCost[]): string {
  const names = costs.map(({ operationId, answer }) => `"${operationId} ${answer}"`);
  const dollars = costs.map(({ dollarsPerMillion }) => dollarsPerMillion);
  // Without bounds the axis begins at the smallest bar; the default colour is too faint on white.
  return toMermaid([
    '%%{init: {"themeVariables": {"xyChart": {"plotColorPalette": "#1a5fa0"}}}}%%',
    'xychart-beta horizontal',
    '    title "Dollars per million requests answered 200"',
    `    x-axis [${names.join(', ')}]`,
    `    y-axis "dollars" 0 --> ${Math.ceil(Math.max(...dollars))}`,
    `    bar [${dollars.map((one) => one.toFixed(2)).join(', ')}]`,
  ]);
}

/** A pie of what a month's bill is made of. https://mermaid.js.org/syntax/pie.html */
export function toMonthChart({ components: dollars, fixed }: Month): string {
  const parts: (readonly [name: string, dollars: number])[] = [
    ...components.map((one) => [componentLabels[one], dollars[one]] as const),
    ['fixed', fixed],
  ];
  return toMermaid([
    'pie showData',
    '    title Dollars of the month',
    ...parts
      .filter(([, part]) => part >= 0.005)
      .map(([name, part]) => `    "${name}" : ${part.toFixed(2)}`),
  ]);
}

function toMermaid(lines: readonly string[]): string {
  return ['```mermaid', ...lines, '```'].join('\n');
}
