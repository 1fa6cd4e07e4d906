import type { Stage } from '../stages/stages.ts';
import { priceMonth } from './model.ts';
import { withPrices } from './resources.ts';
import { multiplyRequests, readCommittedTraffic, sumRequests } from './traffic.ts';

/**
 * What a million requests of the stage cost by the model, in the mix of `traffic.json`, with their share of the month's
 * fixed part. Builds the stage's templates, which takes some seconds.
 * @param requests those of the month; default: those of `traffic.json`
 */
export async function priceUsualMillion(stage: Stage, requests?: number): Promise<number> {
  const traffic = readCommittedTraffic();
  const sum = requests ?? sumRequests(traffic);
  const month = multiplyRequests(traffic, sum / sumRequests(traffic));
  const { total } = priceMonth(await withPrices(stage), month);
  return (1e6 * total) / sum;
}
