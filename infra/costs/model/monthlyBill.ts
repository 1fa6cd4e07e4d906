import type { OperationId } from '../../../shared/contract/operations.ts';
import { toFirstPrice, toTieredDollars } from '../prices/tieredPrice.ts';
import type { Traffic, TrafficShare } from '../traffic/traffic.ts';
import type { AnswerUnits, BilledUnits } from '../units/answerUnits.ts';
import { findUnits, readRecordedUnits } from '../units/recordedUnits.ts';
import {
  addDollars,
  type Dollars,
  type RequestPricing,
  scaleDollars,
  toDollarsPerMillion,
} from './components.ts';
import { SECONDS_A_MONTH } from './month.ts';

/** One line of a month's bill. */
export interface BilledShare extends TrafficShare {
  readonly dollars: Dollars;
}

/** A month's requests, without what the stage costs in any case. */
export interface RequestsBill {
  readonly shares: readonly BilledShare[];
  readonly dollars: Dollars;
  /** What of it is reads of the key table. */
  readonly keyReads: number;
}

/** A share of the traffic for which there are no units, such as a 304 of an inventory of several pages. */
export class NoSuchAnswer extends Error {
  override readonly name = 'NoSuchAnswer';

  constructor({ operationId, answer }: TrafficShare, entries: number) {
    super(
      `${operationId} has no answer ${answer} with an inventory of ${entries.toLocaleString('en-US')} entries, which takes more than one page; count it as 200.`,
    );
  }
}

/**
 * What a month's requests cost. The steps of prices that fall with use are those of an account that has
 * this traffic and no other, and each request gets its part of what they save.
 * @throws {NoSuchAnswer}
 */
export function toRequestsBill(
  traffic: Traffic,
  recorded: readonly AnswerUnits[],
  pricing: RequestPricing,
): RequestsBill {
  const metered = traffic.shares.map((share) => ({
    ...share,
    units: findShareUnits(share, recorded, traffic.entries),
  }));
  const { prices } = pricing;
  const sum = (count: (units: BilledUnits) => number) =>
    metered.reduce((total, { units, requests }) => total + requests * count(units), 0);
  const toDiscount = (price: typeof prices.gatewayRequests, used: number) =>
    used === 0 ? 1 : toTieredDollars(price, used) / ((used / 1e6) * toFirstPrice(price));
  const gateway = toDiscount(
    prices.gatewayRequests,
    sum((units) => units.gatewayRequests),
  );
  const transfer = toDiscount(
    prices.transferBytes,
    sum((units) => units.responseBytes),
  );
  const shares = metered.map(({ units, ...share }) => {
    const first = scaleDollars(toDollarsPerMillion(units, pricing), share.requests / 1e6);
    const dollars = {
      ...first,
      gateway: first.gateway * gateway,
      transfer: first.transfer * transfer,
    };
    return { ...share, dollars };
  });
  const keyReads = (countKeyReads(traffic) / 1e6) * prices.dynamoDbPerMillionReadUnits;
  const dollars = addDollars(shares.map((share) => share.dollars));
  return { shares, keyReads, dollars: { ...dollars, readUnits: dollars.readUnits + keyReads } };
}

/** The same requests, those without such an answer answered 200: a list of several pages has no 304. */
export function toAnswerable(traffic: Traffic, recorded = readRecordedUnits()): Traffic {
  const shares = traffic.shares.map((share) => {
    const units = findUnits(recorded, share.operationId, share.answer, traffic.entries);
    return units ? share : { ...share, answer: '200' as const };
  });
  return { ...traffic, shares };
}

const MINUTES_A_MONTH = SECONDS_A_MONTH / 60;

/**
 * A container reads the record of a key once a minute, a unit each time: of one key, and as many containers
 * as there are operations, that is at most each request of a month, or each of its minutes.
 */
function countKeyReads({ shares }: Traffic): number {
  const requests = new Map<OperationId, number>();
  for (const { operationId, answer, requests: more } of shares) {
    if (answer === '401' || answer === '429') continue;
    requests.set(operationId, (requests.get(operationId) ?? 0) + more);
  }
  return [...requests.values()].reduce((sum, count) => sum + Math.min(count, MINUTES_A_MONTH), 0);
}

function findShareUnits(
  share: TrafficShare,
  recorded: readonly AnswerUnits[],
  entries: number,
): BilledUnits {
  const units = findUnits(recorded, share.operationId, share.answer, entries);
  if (!units) throw new NoSuchAnswer(share, entries);
  return units;
}
