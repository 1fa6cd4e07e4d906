import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import {
  componentLabels,
  components,
  type Dollars,
  usageKinds,
  usageParts,
} from '../usageParts.ts';
import type { CostReport } from './costReport.ts';
import { sumDollars, toAmount, toCents } from './usage.ts';

/** A stage's month as priced with the figures, or the traffic, of one commit. */
type PricedStage = Pick<CostReport, 'month'> & Partial<Pick<CostReport, 'operations'>>;

/** Says in a sentence how a stage's month changes in cost, then why. Empty if nothing changes. */
export function findCostChanges(
  month: string,
  before: PricedStage | undefined,
  after: PricedStage,
): string[] {
  const total = `$${toCents(after.month.total)} a month`;
  if (!before) return [`${month} is new: ${total}.`];
  const toPart = ({ month: { components: own, fixedParts } }: PricedStage, one: keyof Dollars) =>
    own[one] + fixedParts[one];
  const moved = toChanges([
    ...components.map(
      (one) => [componentLabels[one], toPart(after, one) - toPart(before, one)] as const,
    ),
    ['unknown paths and refusals', toRest(after) - toRest(before)],
  ]);
  if (moved.length > 0) {
    const sentence = `${month} $${toCents(before.month.total)} → ${total}: ${moved.join(', ')}.`;
    return [sentence, ...toUsageChanges(before.month, after.month)];
  }
  const others = toResponseChanges(before, after);
  return others.length > 0 ? [`${month} costs ${total}, as before.`, ...others] : [];
}

/** What the worst month has besides its operations. */
function toRest({ month: { total, requests, fixed } }: PricedStage): number {
  return total - requests - fixed;
}

/** The largest first, without those below half a cent. */
function toChanges(changes: readonly (readonly [name: string, dollars: number])[]): string[] {
  return changes
    .filter(([, dollars]) => Math.abs(dollars) >= 0.005)
    .sort(([, one], [, other]) => Math.abs(other) - Math.abs(one))
    .map(([name, dollars]) => `${name} ${toSigned(dollars)}`);
}

/** In cents, or with three digits if that shows more. */
function toSigned(dollars: number): string {
  return dollars.toLocaleString('en-US', {
    ...{ minimumFractionDigits: 2, maximumFractionDigits: 2 },
    ...{ minimumSignificantDigits: 2, maximumSignificantDigits: 3 },
    ...{ roundingPriority: 'morePrecision', signDisplay: 'always' },
  });
}

/** By what AWS counts, in amount and price, then by operation. */
function toUsageChanges(was: PricedStage['month'], is: PricedStage['month']): string[] {
  const parts = usageKinds.map((kind) => {
    const [used, uses] = [was.usage[kind], is.usage[kind]];
    const [, name] = usageParts[kind];
    const [old, rate] = [was.rates[kind], is.rates[kind]];
    // As AWS's pages have them: what costs a dime or more is one alarm, key or GB.
    const [factor, per] = Math.max(old, rate) < 0.001 ? [1e6, 'per million'] : [1, 'each'];
    const [from, to] = [old, rate].map((one) => toAmount(one * factor));
    return [
      [`${name} ${toAmount(used)} → ${toAmount(uses)}`, (uses - used) * old],
      [`price of ${name} $${from} → $${to} ${per}`, uses * (rate - old)],
    ] as const;
  });
  const sum = ({ shares }: PricedStage['month'], id: OperationId) =>
    shares.reduce((all, one) => all + (one.operationId === id ? sumDollars(one.dollars) : 0), 0);
  const operations = operationIds.map((id) => [id, sum(is, id) - sum(was, id)] as const);
  const byOperation = toChanges(operations).join(', ');
  return [...toChanges(parts.flat()), ...(byOperation ? [`by operation ${byOperation}`] : [])];
}

/** Changes of responses that do not occur in the month; the others show in its total. */
function toResponseChanges(before: PricedStage, after: PricedStage): string[] {
  const { operations = [] } = after;
  return operations.flatMap(({ operationId, response, dollarsPerMillion }) => {
    const was = before.operations?.find(
      (one) => one.operationId === operationId && one.response === response,
    );
    const [from, to] = [toCents(was?.dollarsPerMillion ?? 0), toCents(dollarsPerMillion)];
    const name = `a million of ${operationId} ${response}, which it does not have,`;
    return from === to ? [] : [`${name} $${from} → $${to}`];
  });
}
