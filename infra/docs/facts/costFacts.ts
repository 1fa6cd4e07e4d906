import { readCommittedTraffic } from '../../costs/bills/traffic.ts';
import type { Placeholders } from '../guide.ts';
import { toPageParts } from './costsPage.ts';

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
