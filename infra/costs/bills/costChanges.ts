import { stages } from '../../stages/stages.ts';
import { defaultPrices } from '../prices/priceTables.ts';
import { type AnswerUnits, type BilledUnits, sumLogBytes } from '../units/answerUnits.ts';
import { findUnits } from '../units/recordedUnits.ts';
import { toRequestsBill, toStagePricing } from './monthlyBill.ts';
import { sumRequests, type Traffic } from './traffic.ts';
import {
  type Component,
  components,
  type RequestPricing,
  sumDollars,
  toDollarsPerMillion,
} from './usage.ts';

/**
 * What a change of the units does to production's bill: its month at the committed traffic, and a sentence
 * for each answer that costs more or less, the most expensive change first. What has changed but costs the same gets a
 * sentence as well.
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
    return JSON.stringify(was) === JSON.stringify(now)
      ? []
      : [toChange(was, now, traffic, pricing)];
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
    traffic.shares.every((share) =>
      findUnits(recorded, share.operationId, share.answer, traffic.entries),
    ),
  );
  if (!isPriced) return [];
  const [from = 0, to = 0] = [before, after].map((recorded) =>
    sumDollars(toRequestsBill(traffic, recorded, pricing).dollars),
  );
  const added = to - from;
  if (Math.abs(added) < 0.005) return [];
  const requests = sumRequests(traffic).toLocaleString('en-US');
  const more = added > 0 ? 'more' : 'less';
  return [
    `A month of ${requests} requests costs $${Math.abs(added).toFixed(2)} ${more}: $${from.toFixed(2)} → $${to.toFixed(2)}.`,
  ];
}

function toChange(
  was: AnswerUnits,
  now: AnswerUnits,
  traffic: Traffic,
  pricing: RequestPricing,
): { readonly added: number; readonly text: string } {
  const from = toDollarsPerMillion(was, pricing);
  const to = toDollarsPerMillion(now, pricing);
  const added = sumDollars(to) - sumDollars(from);
  const moved = components.filter((one) => Math.abs(to[one] - from[one]) > 1e-9);
  const why = moved.map((one) => toReason(one, was, now)).join('; ');
  const monthly = toMonthly(now, added, traffic);
  return { added, text: `${toName(now)} ${toSentence(added, monthly)}${why && ` (${why})`}.` };
}

function toSentence(added: number, monthly: string): string {
  if (Math.abs(added) < 0.00005) return 'costs the same, but by other units';
  const more = added > 0 ? 'more' : 'less';
  return `costs $${Math.abs(added).toFixed(4)} ${more} per million requests${monthly}`;
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

function toName({ operationId, answer, entries }: AnswerUnits): string {
  return entries === undefined
    ? `${operationId} ${answer}`
    : `${operationId} ${answer} of ${entries.toLocaleString('en-US')} entries`;
}

/** What of a component's units is another number now, in words. */
function toReason(component: Component, was: BilledUnits, now: BilledUnits): string {
  const [label, count] = units[component];
  return `${label} ${count(was)} → ${count(now)}`;
}

const units: Record<Component, readonly [label: string, count: (units: BilledUnits) => string]> = {
  gateway: ['gateway requests', ({ gatewayRequests }) => `${gatewayRequests}`],
  lambda: [
    'MB × ms of Lambda',
    ({ memoryMegabytes, billedMilliseconds }) => `${memoryMegabytes} × ${billedMilliseconds}`,
  ],
  readUnits: ['read units', ({ readUnits }) => `${readUnits}`],
  writeUnits: ['write units', ({ writeUnits }) => `${writeUnits}`],
  transfer: ['bytes sent', ({ responseBytes }) => `${responseBytes}`],
  logs: ['bytes logged', ({ logBytes }) => `${sumLogBytes(logBytes)}`],
  tracing: ['traces', () => ''],
  firewall: ['firewall', () => ''],
};
