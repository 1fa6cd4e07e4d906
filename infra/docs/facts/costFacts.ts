import { readCommittedTraffic } from '../../costs/change/committedTraffic.ts';
import { toProductionCharts } from '../../costs/charts/charts.ts';
import { toPageParts } from '../../costs/page/costsPage.ts';
import type { Placeholders } from '../guide.ts';
import type { SiteFile } from '../page.ts';

/** What the cost model says of production at the committed traffic. */
export function toCostFacts(): Placeholders {
  const traffic = readCommittedTraffic();
  const parts = toPageParts(traffic);
  return {
    costEntries: () => traffic.entries.toLocaleString('en'),
    requestCosts: () => parts.get('served'),
    monthCosts: () => parts.get('month'),
  };
}

/** The model's charts, by the names of their files. */
export function toCostCharts(): [name: string, file: SiteFile][] {
  return [...toProductionCharts(readCommittedTraffic())].map(([name, body]) => [
    name,
    { type: 'image/svg+xml', body },
  ]);
}
