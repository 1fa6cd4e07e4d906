import { stages } from '../../stages/stages.ts';
import { type AnswerUnits, findUnits } from '../units/answerUnits.ts';
import { toRequestsBill, toStagePricing } from './monthlyBill.ts';
import { sumRequests, type Traffic } from './traffic.ts';
import { sumDollars, toDollarsPerMillion } from './usage.ts';

/**
 * What a change of the units does to production's bill: a sentence on its month at the given traffic, and one on
 * each answer that costs more or less.
 */
export function findCostChanges(
  before: readonly AnswerUnits[],
  after: readonly AnswerUnits[],
  traffic: Traffic,
): string[] {
  const pricing = toStagePricing(stages.production.settings, sumRequests(traffic));
  const toPrices = (units: readonly AnswerUnits[]) =>
    new Map(
      units.map((one) => [toName(one), sumDollars(toDollarsPerMillion(one, pricing))] as const),
    );
  const toMonth = (units: readonly AnswerUnits[]) => {
    const isPriced = traffic.shares.every(({ operationId }) =>
      findUnits({ units }, operationId, '200', traffic.entries),
    );
    const priced = { ...pricing, units };
    return isPriced ? sumDollars(toRequestsBill(traffic, priced).dollars) : Number.NaN;
  };
  const [was, is] = [toPrices(before), toPrices(after)];
  const month = `A month of ${sumRequests(traffic).toLocaleString('en-US')} requests`;
  return [
    ...toChange(month, toMonth(before), toMonth(after), 2),
    ...[...is].flatMap(([name, dollars]) => {
      const old = was.get(name);
      if (old === undefined) return [`${name} is new.`];
      return toChange(`A million requests answered ${name}`, old, dollars, 4);
    }),
    ...[...was.keys()].filter((name) => !is.has(name)).map((name) => `${name} is no longer there.`),
  ];
}

/** None where both look the same. */
function toChange(what: string, from: number, to: number, digits: number): string[] {
  const [old, now] = [from.toFixed(digits), to.toFixed(digits)];
  const added = to - from;
  if (old === now || Number.isNaN(added)) return [];
  const more = `${Math.abs(added).toFixed(digits)} ${added > 0 ? 'more' : 'less'}`;
  return [`${what} costs $${more}: $${old} → $${now}.`];
}

function toName({ operationId, answer, entries }: AnswerUnits): string {
  const of = entries === undefined ? '' : ` of ${entries.toLocaleString('en-US')} entries`;
  return `${operationId} ${answer}${of}`;
}
