import { toTieredDollars } from '../prices.ts';
import { type Answer, type AnswerUnits, readRecordedUnits } from '../units/answerUnits.ts';
import { toRequestsBill } from './monthlyBill.ts';
import type { Traffic, TrafficShare } from './traffic.ts';
import { type RequestPricing, sumDollars } from './usage.ts';

/** What would make a month cheaper, or more expensive where the dollars are negative. */
export interface Saving {
  readonly name: string;
  /** Saved in a month of this traffic. */
  readonly dollars: number;
  /** What it takes, or what is lost by it. */
  readonly price: string;
}

/** Each by itself: two together save less than their sum. */
export function toSavings(traffic: Traffic, pricing: RequestPricing): Saving[] {
  const recorded = readRecordedUnits();
  const now = toRequestsBill(traffic, pricing, recorded);
  const saved = (changed: {
    shares?: readonly TrafficShare[];
    units?: (units: AnswerUnits) => AnswerUnits;
    pricing?: Partial<RequestPricing>;
  }) => {
    const { shares = traffic.shares, units = (same) => same } = changed;
    const priced = { ...pricing, ...changed.pricing };
    const bill = toRequestsBill({ ...traffic, shares }, priced, recorded.map(units));
    return sumDollars(now.dollars) - sumDollars(bill.dollars);
  };
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
      dollars: saved({ shares: toLists(['200', '200 gzip'], '200 zstd') }),
      price: "a header of the clients'; browsers send it by themselves",
    },
    {
      name: 'Entries by petId= in place of whole lists',
      dollars: saved({ shares: toLists(['200', '200 gzip', '200 zstd', '304'], '200 petId') }),
      price: 'clients that know which entries they show',
    },
    {
      name: 'No X-Ray traces',
      dollars: saved({ pricing: { tracedPercent: 0 } }),
      price: 'where the time of a slow request went',
    },
    {
      name: 'Function logs of class Infrequent Access',
      dollars: saved({ units: (units) => withLogs(units, cheaperLogs, cheaperLogs) }),
      price: 'no metric filters, so no alarm per operation; no live tail; for good',
    },
    {
      name: "Without Lambda's own lines of each call",
      dollars: saved({ units: (units) => withLogs(units, 1, 0) }),
      price: 'billed durations by key, and the lines of timeouts',
    },
    {
      name: 'Functions with half the memory',
      dollars: saved({
        units: (units) => ({ ...units, memoryMegabytes: units.memoryMegabytes / 2 }),
      }),
      price: 'half the processor: at most this much, and less for what computes',
    },
    {
      name: 'An HTTP API in place of the REST API',
      dollars:
        now.dollars.gateway - toTieredDollars(prices.httpApiRequests, now.usage.gatewayRequests),
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
