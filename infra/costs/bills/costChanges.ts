import { stages } from '../../stages/stages.ts';
import { defaultPrices } from '../prices.ts';
import { type AnswerUnits, findUnits } from '../units/answerUnits.ts';
import { toRequestsBill, toStagePricing } from './monthlyBill.ts';
import { sumRequests, type Traffic } from './traffic.ts';
import { type RequestPricing, sumDollars, toDollarsPerMillion } from './usage.ts';

/**
 * What a change of the units does to production's bill: its month at the given traffic, and a sentence
 * for each answer that costs more or less, the most expensive change first. What has changed but costs the same
 * gets a sentence as well.
 */
export function findCostChanges(
  before: readonly AnswerUnits[],
  after: readonly AnswerUnits[],
  traffic: Traffic,
): string[] {
  const pricing = toStagePricing(stages.production.settings, defaultPrices, sumRequests(traffic));
  const changes = after.flatMap((now) => {
    const was = before.find((one) => toName(one) === toName(now));
    if (!was) return [{ added: Number.POSITIVE_INFINITY, text: `${toName(now)} is new.` }];
    const fields = listChangedFields(was, now);
    return fields.length === 0 ? [] : [toChange(was, now, fields, traffic, pricing)];
  });
  const gone = before.filter((was) => !after.some((now) => toName(now) === toName(was)));
  return [
    ...toMonthChange(before, after, traffic, pricing),
    ...changes.sort((one, other) => other.added - one.added).map(({ text }) => text),
    ...gone.map((was) => `${toName(was)} is no longer there.`),
  ];
}

function toMonthChange(
  before: readonly AnswerUnits[],
  after: readonly AnswerUnits[],
  traffic: Traffic,
  pricing: RequestPricing,
): string[] {
  const isPriced = [before, after].every((recorded) =>
    traffic.shares.every(({ operationId, answer }) =>
      findUnits(recorded, operationId, answer, traffic.entries),
    ),
  );
  if (!isPriced) return [];
  const [from = 0, to = 0] = [before, after].map((recorded) =>
    sumDollars(toRequestsBill(traffic, pricing, recorded).dollars),
  );
  const added = to - from;
  if (Math.abs(added) < 0.005) return [];
  const requests = sumRequests(traffic).toLocaleString('en-US');
  return [
    `A month of ${requests} requests costs $${toMore(added, 2)}: $${from.toFixed(2)} → $${to.toFixed(2)}.`,
  ];
}

function toChange(
  was: AnswerUnits,
  now: AnswerUnits,
  fields: readonly string[],
  traffic: Traffic,
  pricing: RequestPricing,
): { readonly added: number; readonly text: string } {
  const [from = 0, to = 0] = [was, now].map((units) =>
    sumDollars(toDollarsPerMillion(units, pricing)),
  );
  const added = to - from;
  const says =
    Math.abs(added) < 0.00005
      ? 'costs the same, but by other units'
      : `costs $${toMore(added, 4)} per million requests${toMonthly(now, added, traffic)}`;
  return { added, text: `${toName(now)} ${says} (${fields.join('; ')}).` };
}

function toMonthly(
  { operationId, answer, entries }: AnswerUnits,
  added: number,
  traffic: Traffic,
): string {
  if (entries !== undefined && entries !== traffic.entries) return '';
  const requests = traffic.shares
    .filter((share) => share.operationId === operationId && share.answer === answer)
    .reduce((sum, share) => sum + share.requests, 0);
  if (requests === 0) return '';
  const dollars = (Math.abs(added) * requests) / 1e6;
  return `, $${dollars.toFixed(2)} a month at ${requests.toLocaleString('en-US')} requests`;
}

function toMore(added: number, digits: number): string {
  return `${Math.abs(added).toFixed(digits)} ${added > 0 ? 'more' : 'less'}`;
}

function toName({ operationId, answer, entries }: AnswerUnits): string {
  return entries === undefined
    ? `${operationId} ${answer}`
    : `${operationId} ${answer} of ${entries.toLocaleString('en-US')} entries`;
}

/** By their names in `units.json`: `readUnits 0.5 → 1.5`. */
function listChangedFields(was: AnswerUnits, now: AnswerUnits): string[] {
  const before = new Map(listFields(was));
  return listFields(now).flatMap(([name, value]) =>
    before.get(name) === value ? [] : [`${name} ${before.get(name)} → ${value}`],
  );
}

function listFields({ logBytes, ...units }: AnswerUnits): [name: string, value: unknown][] {
  const logs = Object.entries(logBytes).map(([name, bytes]): [string, number] => [
    `logBytes.${name}`,
    bytes,
  ]);
  return [...Object.entries(units), ...logs];
}
