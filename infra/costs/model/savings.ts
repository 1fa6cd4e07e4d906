import { toTieredDollars } from '../prices/tieredPrice.ts';
import type { Traffic, TrafficShare } from '../traffic/traffic.ts';
import { type Answer, answersBySize } from '../units/answers.ts';
import type { AnswerUnits, BilledUnits } from '../units/answerUnits.ts';
import { findUnits } from '../units/recordedUnits.ts';
import { type RequestPricing, sumDollars } from './components.ts';
import { toRequestsBill } from './monthlyBill.ts';

/** What would make a month cheaper, or dearer where the dollars are negative. */
export interface Saving {
  readonly name: string;
  /** Saved in a month of this traffic. */
  readonly dollars: number;
  /** What it takes, or what is lost by it. */
  readonly price: string;
}

/** Each by itself: two together save less than their sum. */
export function toSavings(
  traffic: Traffic,
  recorded: readonly AnswerUnits[],
  pricing: RequestPricing,
): Saving[] {
  const toTotal = (changed: {
    shares?: readonly TrafficShare[];
    units?: (units: AnswerUnits) => AnswerUnits;
    pricing?: Partial<RequestPricing>;
  }) => {
    const { shares = traffic.shares, units = (same) => same } = changed;
    const priced = { ...pricing, ...changed.pricing };
    return sumDollars(toRequestsBill({ ...traffic, shares }, recorded.map(units), priced).dollars);
  };
  const now = toTotal({});
  const toLists = (from: readonly Answer[], answer: Answer) =>
    traffic.shares.map((share) =>
      share.operationId === 'listInventory' && from.includes(share.answer)
        ? { ...share, answer }
        : share,
    );
  const { prices } = pricing;
  const cheaperLogs = prices.infrequentLogsPerGigabyte / prices.logsPerGigabyte;
  return [
    {
      name: 'Every client takes lists with zstd',
      dollars: now - toTotal({ shares: toLists(['200', '200 gzip'], '200 zstd') }),
      price: "a header of the clients'; browsers send it by themselves",
    },
    {
      name: 'Entries by petId= in place of whole lists',
      dollars: now - toTotal({ shares: toLists(answersBySize, '200 petId') }),
      price: 'clients that know which entries they show',
    },
    {
      name: 'No X-Ray traces',
      dollars: now - toTotal({ pricing: { tracedPercent: 0 } }),
      price: 'where the time of a slow request went',
    },
    {
      name: 'Function logs of class Infrequent Access',
      dollars: now - toTotal({ units: (units) => withLogs(units, cheaperLogs, cheaperLogs) }),
      price: 'no metric filters, so no alarm per operation; no live tail; for good',
    },
    {
      name: "Without Lambda's own lines of each call",
      dollars: now - toTotal({ units: (units) => withLogs(units, 1, 0) }),
      price: 'billed durations by key, and the lines of timeouts',
    },
    {
      name: 'Functions with half the memory',
      dollars:
        now -
        toTotal({
          units: (units) => ({ ...units, memoryMegabytes: units.memoryMegabytes / 2 }),
        }),
      price: 'half the processor: at most this much, and less for what computes',
    },
    {
      name: 'An HTTP API in place of the REST API',
      dollars: toHttpApiSaving(traffic, recorded, pricing),
      price: "the Error body of the gateway's own answers, and lists past 6 MB",
    },
  ];
}

function withLogs(units: AnswerUnits, request: number, platform: number): AnswerUnits {
  const { logBytes } = units;
  return {
    ...units,
    logBytes: {
      ...logBytes,
      request: logBytes.request * request,
      start: logBytes.start * platform,
      report: logBytes.report * platform,
    },
  };
}

function toHttpApiSaving(
  traffic: Traffic,
  recorded: readonly AnswerUnits[],
  { prices }: RequestPricing,
): number {
  const count = ({ operationId, answer }: TrafficShare): BilledUnits | undefined =>
    findUnits(recorded, operationId, answer, traffic.entries);
  const requests = traffic.shares.reduce(
    (sum, share) => sum + share.requests * (count(share)?.gatewayRequests ?? 0),
    0,
  );
  return (
    toTieredDollars(prices.gatewayRequests, requests) -
    toTieredDollars(prices.httpApiRequests, requests)
  );
}
