import { operationIds } from '../../../shared/contract/operations.ts';
import type { CostReport } from './costReport.ts';
import {
  componentLabels,
  components,
  type Dollars,
  sumDollars,
  toCents,
  usageKinds,
  usageParts,
} from './usage.ts';

type Month = CostReport['month'];

/** A stage as the model of some commit prices it; an older one says less. */
export interface PricedStage {
  readonly month: Pick<Month, 'total'> & {
    readonly components: Partial<Dollars>;
    readonly fixedParts: Partial<Dollars>;
    readonly shares: Month['shares'];
    readonly usage?: Partial<Month['usage']>;
    readonly rates?: Partial<Month['rates']>;
  };
  readonly operations: CostReport['operations'];
}

/**
 * What a stage's month costs more or less in the same traffic, in a sentence; then what moved it. Nothing where
 * nothing did.
 * @param before none of a stage that is new
 */
export function findCostChanges(
  name: string,
  before: PricedStage | undefined,
  after: PricedStage,
): string[] {
  const [was, is] = [before?.month, after.month];
  if (!before || !was) return [`${name} is new, and costs $${toCents(is.total)} a month.`];
  const toPart = ({ components: own, fixedParts }: PricedStage['month'], one: keyof Dollars) =>
    (own[one] ?? 0) + (fixedParts[one] ?? 0);
  const moved = toChanges(
    components.map((one) => [componentLabels[one], toPart(is, one) - toPart(was, one)]),
  );
  const details = [...toUsageChanges(was, is), ...toAnswerChanges(before, after)];
  if (moved.length === 0 && details.length === 0) return [];
  const change = `$${toCents(was.total)} → $${toCents(is.total)} a month`;
  const parts = moved.length > 0 ? `, of which ${moved.join(', ')}` : '';
  return [`At the traffic of infra/costs/traffic.json, ${name} ${change}${parts}.`, ...details];
}

/** The largest first; none that comes to no cent. */
function toChanges(changes: readonly (readonly [name: string, dollars: number])[]): string[] {
  return changes
    .filter(([, dollars]) => Math.abs(dollars) >= 0.005)
    .sort(([, one], [, other]) => Math.abs(other) - Math.abs(one))
    .map(([name, dollars]) => `${name} ${toSigned(dollars)}`);
}

/** In cents, and what is less than a dollar to three digits. */
function toSigned(dollars: number): string {
  const amount = Math.abs(dollars);
  const text =
    amount < 1 ? amount.toLocaleString('en-US', { maximumSignificantDigits: 3 }) : toCents(amount);
  return `${dollars < 0 ? '-' : '+'}${text}`;
}

/** By what AWS counts: how much of it, and for which price; then by operation. */
function toUsageChanges(was: PricedStage['month'], is: PricedStage['month']): string[] {
  const parts = usageKinds.map((kind) => {
    const [used, uses] = [was.usage?.[kind] ?? 0, is.usage?.[kind] ?? 0];
    const [, name] = usageParts[kind];
    const rate = is.rates?.[kind] ?? 0;
    const old = was.rates?.[kind] ?? rate;
    return [
      [`${name} ${toNumber(used)} → ${toNumber(uses)}`, (uses - used) * old],
      [`price of ${name} ${toNumber(old)} → ${toNumber(rate)}`, uses * (rate - old)],
    ] as const;
  });
  const operations = operationIds.map((id) => {
    const toDollars = ({ shares }: PricedStage['month']) =>
      shares
        .filter(({ operationId }) => operationId === id)
        .reduce((sum, { dollars }) => sum + sumDollars(dollars), 0);
    return [id, toDollars(is) - toDollars(was)] as const;
  });
  // An older model does not tell what is used.
  const lines = was.usage ? toChanges(parts.flat()) : [];
  const byOperation = toChanges(operations).join(', ');
  return [...lines, ...(byOperation ? [`by operation ${byOperation}`] : [])];
}

function toNumber(amount: number): string {
  return amount.toLocaleString('en-US', { maximumSignificantDigits: 6 });
}

/** What the month does not show: answers that it has none of, that are new, or that are gone. */
function toAnswerChanges(before: PricedStage, after: PricedStage): string[] {
  const [was, is] = [toPrices(before), toPrices(after)];
  const inMonth = new Set(after.month.shares.map(toName));
  const prices = [...is].flatMap(([name, dollars]) => {
    const [from, to] = [was.get(name)?.toFixed(4), dollars.toFixed(4)];
    return from === undefined || from === to || inMonth.has(name)
      ? []
      : [`${name} $${from} → $${to}`];
  });
  const added = [...is.keys()].filter((name) => !was.has(name));
  const gone = [...was.keys()].filter((name) => !is.has(name));
  const [first, ...others] = prices;
  const more = others.length > 0 ? `, and ${others.length} answers more` : '';
  return [
    ...(first ? [`not in this traffic, by the million: ${first}${more}`] : []),
    ...(added.length > 0 ? [`new: ${added.join(', ')}`] : []),
    ...(gone.length > 0 ? [`gone: ${gone.join(', ')}`] : []),
  ];
}

function toPrices({ operations }: PricedStage) {
  return new Map(operations.map((one) => [toName(one), one.dollarsPerMillion] as const));
}

function toName({ operationId, answer }: { operationId: string; answer: string }): string {
  return `${operationId} ${answer}`;
}
