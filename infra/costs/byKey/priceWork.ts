import type { Dollars, RequestPricing } from '../model/components.ts';
import { scaleDollars, toDollarsPerMillion } from '../model/components.ts';
import { type TieredPrice, toTieredDollars } from '../prices/tieredPrice.ts';
import { findUnits, readRecordedUnits } from '../units/recordedUnits.ts';
import type { KeyWork } from './keyWork.ts';

export interface PricedWork extends KeyWork {
  readonly dollars: Dollars;
}

/** @param work all of one month, on which the steps of prices depend */
export function priceWork(
  work: readonly KeyWork[],
  { prices, hasFirewall }: Omit<RequestPricing, 'tracedPercent'>,
): PricedWork[] {
  const headBytes = readHeadBytes();
  const toSent = ({ bodyBytes, gatewayLines }: KeyWork) => bodyBytes + gatewayLines * headBytes;
  const gateway = toUnitPrice(prices.gatewayRequests, work, (row) => row.gatewayRequests);
  const transfer = toUnitPrice(prices.transferBytes, work, toSent);
  return work.map((row) => {
    const untiered = toUntieredDollars(row, { prices, hasFirewall, tracedPercent: 0 });
    const streamedGigabytes = row.streamedBytes / 2 ** 30;
    const dollars = {
      ...untiered,
      gateway: row.gatewayRequests * gateway,
      transfer: toSent(row) * transfer,
      lambda: untiered.lambda + streamedGigabytes * prices.lambdaPerStreamedGigabyte,
      tracing: (row.traced / 1e6) * prices.tracesPerMillion,
      firewall: hasFirewall ? (row.gatewayLines / 1e6) * prices.firewallPerMillionRequests : 0,
    };
    return { ...row, dollars };
  });
}

/** As of one request that has used it all. */
function toUntieredDollars(row: KeyWork, pricing: RequestPricing): Dollars {
  const units = {
    gatewayRequests: row.gatewayRequests,
    functionCalls: row.calls,
    memoryMegabytes: 1,
    billedMilliseconds: row.megabyteMilliseconds,
    readUnits: row.readUnits,
    writeUnits: row.writeUnits,
    responseBytes: 0,
    logBytes: { request: row.logBytes, start: 0, report: 0, access: 0 },
  };
  return scaleDollars(toDollarsPerMillion(units, pricing), 1e-6);
}

/** Dollars for a unit, at the step of the price that all of them together reach. */
function toUnitPrice(
  price: TieredPrice,
  work: readonly KeyWork[],
  count: (row: KeyWork) => number,
): number {
  const units = work.reduce((sum, row) => sum + count(row), 0);
  return units === 0 ? 0 : toTieredDollars(price, units) / units;
}

/** The gateway counts the bytes of bodies; heads are sent, and billed, too. A 304 has nothing else. */
function readHeadBytes(): number {
  return findUnits(readRecordedUnits(), 'listInventory', '304', 1_000)?.responseBytes ?? 0;
}
