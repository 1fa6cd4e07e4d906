import type { TraceSampling } from '../../stages/stageSettings.ts';
import type { Stage } from '../../stages/stages.ts';
import type { PriceTable } from '../prices/priceTable.ts';
import type { RequestPricing } from './components.ts';
import { SECONDS_A_MONTH } from './month.ts';

/**
 * How a stage's requests are priced.
 * @param requests a month, which the share that X-Ray traces depends on where a stage reserves some a second
 */
export function toStagePricing(
  { settings }: Stage,
  prices: PriceTable,
  requests: number,
): RequestPricing {
  return {
    prices,
    tracedPercent: toTracedPercent(settings.tracing, requests),
    hasFirewall: settings.firewall,
  };
}

/** What X-Ray does where it is given no rule. */
export const defaultSampling: TraceSampling = { reservedPerSecond: 1, percent: 5 };

/**
 * Of a hundred requests, as many as are traced, if they are spread evenly over a month of 730 hours.
 * https://docs.aws.amazon.com/xray/latest/devguide/xray-console-sampling.html
 */
export function toTracedPercent(
  { reservedPerSecond, percent }: TraceSampling,
  requests: number,
): number {
  if (requests === 0) return reservedPerSecond > 0 ? 100 : percent;
  const reserved = Math.min(requests, reservedPerSecond * SECONDS_A_MONTH);
  return (100 * reserved + percent * (requests - reserved)) / requests;
}
