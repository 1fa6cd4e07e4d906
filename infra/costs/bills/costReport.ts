import type { Operation } from '../../../shared/contract/operation.ts';
import { MAX_IDS } from '../../../shared/contract/operations/listInventory.ts';
import { type OperationId, operationIds, operations } from '../../../shared/contract/operations.ts';
import { DEFAULT_LIMIT } from '../../../shared/contract/pageQuery.ts';
import { MAX_ADJUSTMENTS } from '../../../shared/contract/values.ts';
import type { PricedStage } from '../figures.ts';
import {
  components,
  type Dollars,
  describeMissingSteps,
  readPrices,
  usualRegion,
} from '../prices.ts';
import {
  estimateDuration,
  findUnits,
  type ResponseKind,
  type ResponseUnits,
  responsesOf,
} from '../units/responseUnits.ts';
import {
  type Month,
  priceMonth,
  priceWorstMonth,
  readPricing,
  type WorstMonth,
} from './monthlyBill.ts';
import { sumRequests, type Traffic, type TrafficShare } from './traffic.ts';
import {
  type RequestPricing,
  sortByAmount,
  sumDollars,
  sumOf,
  toDollarsPerMillion,
  toRecord,
} from './usage.ts';

export type ServiceCosts = ReturnType<typeof priceService>;

/**
 * What finance asks: a request of each operation, a sale, the month of the traffic, and the worst month.
 * @param entries the length of the inventory; default: that of the traffic, and of the settings in the worst month
 */
export function priceService(stage: PricedStage, traffic: Traffic, entries?: number) {
  const { region = usualRegion } = stage.settings;
  const pricing = readPricing(stage, sumRequests(traffic));
  const month = priceMonth(stage, { ...traffic, entries: entries ?? traffic.entries }, pricing);
  const worst = priceWorstMonth(stage, entries);
  return {
    stage: stage.name,
    region,
    pricesAsOf: readPrices(region).asOf,
    priceNote: describeMissingSteps([region]),
    traffic: traffic.source,
    operations: priceOperations(pricing, month, worst),
    sales: priceSales(pricing, month),
    month: listBill(month),
    worstMonth: listBill(worst, [
      ['writes of the same entries', worst.conflicts],
      ['other paths', worst.other],
      ['refused, 10,000 a second', worst.refusals],
    ]),
  };
}

/** Dollars per million: of the most frequent request of the month, and of the most expensive one that can be asked. */
function priceOperations(pricing: RequestPricing, month: Month, worst: WorstMonth) {
  return worst.shares.map(({ operationId, units }) => {
    const own = month.shares.filter((share) => share.operationId === operationId);
    const [most] = sortByAmount(own, ({ requests }) => requests);
    const typical = most?.units ?? findUnits(pricing, operationId, '200', month.entries) ?? units;
    const typicalComponents = toDollarsPerMillion(typical, pricing);
    const mostExpensive = toDollarsPerMillion(units, { ...pricing, tracedPercent: 100 });
    return {
      operationId,
      typical: describeRequest(typical),
      typicalDollars: sumDollars(typicalComponents),
      typicalComponents,
      mostExpensive: describeRequest(units),
      mostExpensiveDollars: sumDollars(mostExpensive),
      mostExpensiveComponents: mostExpensive,
    };
  });
}

const saleNames = { '200': 'a sale of one pet', '200 cart': `a cart of ${MAX_ADJUSTMENTS} pets` };

/** A sale is an adjustment with status 200, so returns count too. A replay sells nothing. */
export function findSales<Share extends TrafficShare>(shares: readonly Share[]): Share[] {
  return shares.filter(
    ({ operationId, response }) => operationId === 'adjustInventory' && response in saleNames,
  );
}

/**
 * Dollars per million sales: what one more costs, and its share of the whole month, in which each sale bears the same
 * part of all that is no sale.
 */
export function priceSales(pricing: RequestPricing, { shares, total, entries }: Month) {
  const sold = findSales(shares);
  const sales = sumRequests({ shares: sold });
  const others = total - sumOf(sold, ({ dollars }) => sumDollars(dollars));
  return Object.entries(saleNames).map(([response, name]) => {
    const units = findUnits(pricing, 'adjustInventory', response as ResponseKind, entries);
    const marginal = units ? sumDollars(toDollarsPerMillion(units, pricing)) : 0;
    // Without a sale, nothing bears the rest.
    const full = sales > 0 ? { full: marginal + (1e6 * others) / sales } : {};
    return { name, marginal, ...full };
  });
}

export interface BillRow {
  readonly name: string;
  readonly requests?: number;
  readonly dollars: Readonly<Partial<Dollars>>;
}

/** A row for each operation, and one for all else. */
function listBill(
  { shares, total, entries, keyReads, fixedParts, idleParts }: Month,
  besides: readonly (readonly [name: string, dollars: BillRow['dollars']])[] = [],
) {
  const byOperation = Map.groupBy(shares, ({ operationId }) => operationId);
  const rows = [...byOperation].map(([name, own]): BillRow => {
    const dollars = toRecord(components, (one) => sumOf(own, (share) => share.dollars[one]));
    return { name, requests: sumRequests({ shares: own }), dollars };
  });
  const kept = toRecord(components, (one) => fixedParts[one] - idleParts[one]);
  const rest = [
    ['keys, read once a minute', { readUnits: keyReads }],
    ...besides,
    ['kept of these requests', kept],
    ['fixed, without any request', idleParts],
  ] as const;
  const others = rest.map(([name, dollars]): BillRow => ({ name, dollars }));
  return { entries, total, rows: [...rows, ...others] };
}

/** Such as `all 1,000 entries, gzip`. */
export function describeRequest(units: ResponseUnits): string {
  const { operationId, response, request, entries } = units;
  const [status = '', kind = ''] = response.split(' ');
  const parts = [
    entries === undefined ? '' : `all ${entries.toLocaleString('en-US')} entries`,
    request ?? (entries === undefined ? nameKind(operationId, kind) : kind),
    request !== undefined || status === '200' ? '' : `status ${status}`,
    units.billedMilliseconds > estimateDuration(operationId, response, units) ? 'read slowly' : '',
  ];
  return parts.filter((part) => part !== '').join(', ');
}

const kindNames: Readonly<Record<string, string>> = {
  petId: 'one id',
  petIds: `${MAX_IDS} ids`,
  cart: `${MAX_ADJUSTMENTS} pets`,
  replay: 'one pet, again',
};

function nameKind(operationId: OperationId, kind: string): string {
  const { query = {}, parameters }: Operation = operations[operationId];
  if (kindNames[kind]) return kindNames[kind];
  if ('limit' in query) return `a page of ${DEFAULT_LIMIT}`;
  return parameters ? 'one id' : 'one pet';
}

export type ResponseCost = ReturnType<typeof priceResponses>[number];

/** Dollars per million of every response, for an inventory of such a length. */
export function priceResponses(pricing: RequestPricing, entries: number) {
  return operationIds.flatMap((operationId) =>
    responsesOf[operationId].flatMap((response) => {
      const units = findUnits(pricing, operationId, response, entries);
      if (!units) return [];
      const components = toDollarsPerMillion(units, pricing);
      return [{ operationId, response, dollarsPerMillion: sumDollars(components), components }];
    }),
  );
}
