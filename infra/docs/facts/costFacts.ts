import { readCommittedTraffic } from '../../costs/change/committedTraffic.ts';
import { toPageParts } from '../../costs/page/costsPage.ts';
import type { Placeholders } from '../placeholders.ts';

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
