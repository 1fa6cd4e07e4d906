import { type CostReport, type OperationCost, toCostReport } from '../../costs/bills/costReport.ts';
import { listFixedParts, toFixedDollars, toFixedUnits } from '../../costs/bills/fixedCosts.ts';
import type { Month } from '../../costs/bills/monthlyBill.ts';
import { readCommittedTraffic, sumRequests, type Traffic } from '../../costs/bills/traffic.ts';
import { componentLabels, components, sumDollars } from '../../costs/bills/usage.ts';
import { defaultPrices, defaultRegion } from '../../costs/prices.ts';
import { stages } from '../../stages/stages.ts';
import { type Placeholders, toTable } from '../guide.ts';

/** The page for finance, whose marked parts the model fills. */
export const pageFile = new URL('../../costs/README.md', import.meta.url);

/** Whose fixed part the page tells; of others `npm run costs -- --stage` says it. */
const pageStages = ['staging', 'production'] as const;

/** The lists that the page prices: a shop's, and one as long as the stage is to bear. */
const pageSizes = [1_000, 100_000];

/**
 * The page with its marked parts as the model has them now, of production at the given traffic: what stands
 * between `<!-- name -->` and `<!-- end -->`.
 * @throws {Error} when a mark has another name than a part
 */
export function fillCostsPage(page: string, traffic: Traffic): string {
  const parts = toPageParts(traffic);
  return page.replaceAll(/<!-- ([\w ]+) -->\n[\s\S]*?<!-- end -->/g, (_, name: string) => {
    const part = parts.get(name);
    if (part === undefined) throw new Error(`The page has no part "${name}".`);
    return `<!-- ${name} -->\n\n${part}\n\n<!-- end -->`;
  });
}

/** What the guides say of production's costs at the committed traffic. */
export function toCostFacts(): Placeholders {
  const traffic = readCommittedTraffic();
  const parts = toPageParts(traffic);
  return {
    costEntries: () => traffic.entries.toLocaleString('en'),
    requestCosts: () => parts.get('served'),
    monthCosts: () => parts.get('month'),
  };
}

/** What is counted in the page, by the names of its marks. */
function toPageParts(traffic: Traffic): ReadonlyMap<string, string> {
  const stage = stages.production;
  const report = toCostReport({
    stage,
    region: defaultRegion,
    prices: defaultPrices,
    traffic,
    sizes: pageSizes,
    worstEntries: stage.settings.inventoryEntries,
  });
  const served = report.operations.filter((cost) => isServed(cost, traffic));
  return new Map([
    ['requests', toOperationTable(report.operations)],
    ['served', toOperationTable(served)],
    ['requests chart', toRequestsChart(served.filter(({ answer }) => answer.startsWith('200')))],
    ['month', toMonthSentence(report, traffic)],
    ['month chart', toMonthChart(report.month)],
    ['fixed', toFixedTable(traffic.entries)],
    ['worst month', toWorstSentence(report)],
  ]);
}

/** What a client asks for and gets, of an inventory as long as the traffic's; and a refused key. */
function isServed({ answer, entries }: OperationCost, traffic: Traffic): boolean {
  return /^(200|304|401)/.test(answer) && [undefined, traffic.entries].includes(entries);
}

/** Dollars per million requests, by operation, answer and component; by entries where these differ. */
function toOperationTable(costs: readonly OperationCost[]): string {
  const used = components.filter((one) => costs.some((cost) => cost.components[one] > 0));
  const hasSizes = new Set(costs.flatMap(({ entries = [] }) => entries)).size > 1;
  const labels = used.map((one) => componentLabels[one]);
  return toTable(
    ['operation', 'answer', ...(hasSizes ? ['entries'] : []), 'total', ...labels],
    costs.map(({ operationId, answer, entries, dollarsPerMillion, components: dollars }) => [
      operationId,
      answer,
      ...(hasSizes ? [entries?.toLocaleString('en-US') ?? ''] : []),
      `**${dollarsPerMillion.toFixed(2)}**`,
      // What costs nothing stays blank.
      ...used.map((one) => (dollars[one] === 0 ? '' : dollars[one].toFixed(2))),
    ]),
  );
}

/** @param entries the length of the inventory */
function toFixedTable(entries: number): string {
  const rows = pageStages.map((name) => {
    const units = toFixedUnits(stages[name].settings);
    const parts = toFixedDollars(units, defaultPrices, entries);
    const listed = listFixedParts(parts).map(([part, dollars]) => `${part} ${dollars.toFixed(2)}`);
    return [name, `**${sumDollars(parts).toFixed(2)}**`, listed.join(', ')];
  });
  return toTable(['stage', 'dollars a month', 'of which'], rows);
}

function toMonthSentence({ month, region, pricesAsOf }: CostReport, traffic: Traffic): string {
  const requests = sumRequests(traffic).toLocaleString('en-US');
  const entries = traffic.entries.toLocaleString('en-US');
  return `Production's month with the ${requests} requests of \`infra/costs/traffic.json\` and ${entries} entries costs **$${month.total.toFixed(2)}** (${region}, prices of ${pricesAsOf}): $${month.requests.toFixed(2)} for requests and $${month.fixed.toFixed(2)} fixed.`;
}

function toWorstSentence({ worstMonth }: CostReport): string {
  const [total, refusals] = [worstMonth.total, worstMonth.refusals].map((dollars) =>
    Math.round(dollars).toLocaleString('en-US'),
  );
  return `Production's worst month, with ${worstMonth.entries.toLocaleString('en-US')} entries, is **$${total}**, of which $${refusals} are refusals.`;
}

/** Bars of dollars per million requests. https://mermaid.js.org/syntax/xyChart.html */
function toRequestsChart(costs: readonly OperationCost[]): string {
  const names = costs.map(({ operationId, answer }) => `"${operationId} ${answer}"`);
  const dollars = costs.map(({ dollarsPerMillion }) => dollarsPerMillion);
  // Without bounds the axis begins at the smallest bar; the default colour is too faint on white.
  return [
    '```mermaid',
    '%%{init: {"themeVariables": {"xyChart": {"plotColorPalette": "#1a5fa0"}}}}%%',
    'xychart-beta horizontal',
    '    title "Dollars per million requests answered 200"',
    `    x-axis [${names.join(', ')}]`,
    `    y-axis "dollars" 0 --> ${Math.ceil(Math.max(...dollars))}`,
    `    bar [${dollars.map((one) => one.toFixed(2)).join(', ')}]`,
    '```',
  ].join('\n');
}

/** A pie of what a month's bill is made of. https://mermaid.js.org/syntax/pie.html */
function toMonthChart({ components: dollars, fixed }: Month): string {
  const parts: (readonly [name: string, dollars: number])[] = [
    ...components.map((one) => [componentLabels[one], dollars[one]] as const),
    ['fixed', fixed],
  ];
  return [
    '```mermaid',
    'pie showData',
    '    title Dollars of the month',
    ...parts
      .filter(([, part]) => part >= 0.005)
      .map(([name, part]) => `    "${name}" : ${part.toFixed(2)}`),
    '```',
  ].join('\n');
}
