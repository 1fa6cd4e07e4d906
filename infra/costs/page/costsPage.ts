import { stages } from '../../stages/stages.ts';
import type { OperationCost } from '../model/operationCosts.ts';
import { defaultPrices, defaultRegion } from '../prices/priceTables.ts';
import { type CostReport, toCostReport } from '../report/costReport.ts';
import { sumRequests, type Traffic } from '../traffic/traffic.ts';
import { toMonthChart, toRequestsChart } from './pageCharts.ts';
import { toFixedTable, toOperationTable } from './pageTables.ts';

/** The page for finance, whose marked parts the model fills. */
export const pageFile = new URL('../README.md', import.meta.url);

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

/** What is counted in the page, by the names of its marks. */
export function toPageParts(traffic: Traffic): ReadonlyMap<string, string> {
  const stage = stages.production;
  const prices = defaultPrices;
  const report = toCostReport({
    stage,
    region: defaultRegion,
    prices,
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
    ['fixed', toFixedTable(prices, traffic.entries)],
    ['worst month', toWorstSentence(report)],
  ]);
}

/** What a client asks for and gets, of an inventory as long as the traffic's; and a refused key. */
function isServed({ answer, entries }: OperationCost, traffic: Traffic): boolean {
  return /^(200|304|401)/.test(answer) && [undefined, traffic.entries].includes(entries);
}

function toMonthSentence({ month, region, pricesAsOf }: CostReport, traffic: Traffic): string {
  const requests = sumRequests(traffic).toLocaleString('en-US');
  const entries = traffic.entries.toLocaleString('en-US');
  return `Production's month with the ${requests} requests of \`infra/costs/change/traffic.json\` and ${entries} entries costs **$${month.total.toFixed(2)}** (${region}, prices of ${pricesAsOf}): $${month.requests.toFixed(2)} for requests and $${month.fixed.toFixed(2)} fixed.`;
}

function toWorstSentence({ worstMonth }: CostReport): string {
  const [total, refusals] = [worstMonth.total, worstMonth.refusals].map((dollars) =>
    Math.round(dollars).toLocaleString('en-US'),
  );
  return `Production's worst month, with ${worstMonth.entries.toLocaleString('en-US')} entries, is **$${total}**, of which $${refusals} are refusals.`;
}
