import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import { addDollars, type Dollars, type RequestPricing } from '../model/components.ts';
import { divideWork, type LoggedBytes } from './divideWork.ts';
import type { LogTotals } from './logTotals.ts';
import { type PricedWork, priceWork } from './priceWork.ts';

/** What the requests of one key to one operation have used and cost. */
export interface KeyCost {
  /** The key's name, or in brackets what stands in its place. */
  readonly key: string;
  /** None for what belongs to no operation, such as an unknown path. */
  readonly operation?: OperationId | undefined;
  readonly requests: number;
  readonly readUnits: number;
  readonly keyReadUnits: number;
  readonly writeUnits: number;
  readonly failedWrites: number;
  readonly dollars: Dollars;
}

/**
 * What the requests of some days of one month have cost, by key and operation, keys in the order of their
 * names. All that was billed is in the rows, and nothing twice. The steps of prices that fall with use are
 * those of an account that has these requests and no other in the month.
 */
export function toKeyCosts(
  totals: LogTotals,
  bytes: LoggedBytes,
  pricing: Omit<RequestPricing, 'tracedPercent'>,
): KeyCost[] {
  const priced = priceWork(divideWork(totals, bytes), pricing);
  const groups = Map.groupBy(priced, ({ key, operation }) => `${key}\n${operation ?? ''}`);
  return [...groups.values()].flatMap(joinWork).sort(compare);
}

function joinWork(rows: readonly PricedWork[]): KeyCost[] {
  const [first] = rows;
  if (!first) return [];
  const sum = (name: 'requests' | 'readUnits' | 'keyReadUnits' | 'writeUnits' | 'failedWrites') =>
    rows.reduce((total, row) => total + row[name], 0);
  return [
    {
      key: first.key,
      operation: first.operation,
      requests: sum('requests'),
      readUnits: sum('readUnits'),
      keyReadUnits: sum('keyReadUnits'),
      writeUnits: sum('writeUnits'),
      failedWrites: sum('failedWrites'),
      dollars: addDollars(rows.map(({ dollars }) => dollars)),
    },
  ];
}

/** Keys by name, before what has none; operations in the contract's order. */
function compare(one: KeyCost, other: KeyCost): number {
  return toOrder(one) < toOrder(other) ? -1 : 1;
}

function toOrder({ key, operation }: KeyCost): string {
  const place = operation === undefined ? operationIds.length : operationIds.indexOf(operation);
  return `${key.startsWith('(') ? 1 : 0} ${key} ${String(place).padStart(4, '0')}`;
}
