import { type Stage, stages } from '../../stages/stages.ts';
import type { PriceTable } from '../prices/priceTable.ts';
import { defaultPrices, defaultRegion } from '../prices/priceTables.ts';
import { toCostReport, toMonth } from '../report/costReport.ts';
import { scaleTraffic, type Traffic } from '../traffic/traffic.ts';
import { toMonthChart } from './monthChart.ts';
import { toOperationsChart } from './operationsChart.ts';

/** What the charts are drawn of. */
interface ChartInput {
  readonly stage: Stage;
  readonly region: string;
  readonly prices: PriceTable;
  /** The mix of the month, whatever the number of its requests. */
  readonly traffic: Traffic;
}

/** Where the committed charts lie, beside the code that draws them. */
export const chartsFolder = new URL('.', import.meta.url);

/** From ten thousand requests to a thousand million, eight to a power of ten. */
const requestCounts = Array.from({ length: 41 }, (_, index) => 10 ** (4 + index / 8));

/** The charts of production, where the default prices are. */
export function toProductionCharts(traffic: Traffic): ReadonlyMap<string, string> {
  const stage = stages.production;
  return toCharts({ stage, region: defaultRegion, prices: defaultPrices, traffic });
}

/** The charts by the names of their files. */
export function toCharts(input: ChartInput): ReadonlyMap<string, string> {
  const { traffic } = input;
  const { operations } = toCostReport({
    ...input,
    sizes: [traffic.entries],
    worstEntries: traffic.entries,
  });
  const points = requestCounts.map((requests) => {
    const { fixed, total } = toMonth({ ...input, traffic: scaleTraffic(traffic, requests) });
    return { requests, fixed, total };
  });
  return new Map([
    ['operations.svg', toOperationsChart(operations.filter(isServed))],
    ['month.svg', toMonthChart(points)],
  ]);
}

function isServed({ answer }: { readonly answer: string }): boolean {
  return answer.startsWith('200');
}
