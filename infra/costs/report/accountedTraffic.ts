import { operationIds } from '../../../shared/contract/operations.ts';
import { findOperation } from '../../../shared/contract/paths.ts';
import { type QueryRow, toNumber } from '../../cli/logsInsights.ts';
import { priceMonth } from '../bills/monthlyBill.ts';
import {
  multiplyRequests,
  sumRequests,
  type Traffic,
  type TrafficShare,
} from '../bills/traffic.ts';
import { sumOf } from '../bills/usage.ts';
import type { PricedStage } from '../figures.ts';
import { responsesOf } from '../units/responseUnits.ts';
import type { LogRows } from './logRows.ts';
import type { Bill } from './readBill.ts';

/**
 * The traffic of a bill, as of a whole month. A bill counts the calls of each function if it names resources, and
 * otherwise only the requests of all. Their mix is that of the accepted traffic.
 * @param requests of the gateway
 * @param share how much of the month the bill has
 */
export function findBilledTraffic(
  stage: PricedStage,
  accepted: Traffic,
  calls: Bill['calls'],
  requests: number,
  share: number,
): Traffic {
  const mix = 'in the mix of infra/costs/traffic.json';
  if (calls.length === 0) {
    const { gatewayRequests } = priceMonth(stage, accepted).usage;
    const ofChecks = priceMonth(stage, { ...accepted, shares: [] }).usage.gatewayRequests;
    const own = Math.max(0, requests / share - ofChecks);
    const scaled = multiplyRequests(accepted, own / (gatewayRequests - ofChecks));
    return { ...scaled, source: `the bill's requests ${mix}` };
  }
  const { checkEveryMinutes } = stage.settings;
  const checks = checkEveryMinutes ? (730 * 60) / checkEveryMinutes : 0;
  const shares = operationIds.flatMap((operationId): TrafficShare[] => {
    const ofFunction = calls.filter(({ operation }) => operation === operationId);
    const billed = Math.max(0, sumOf(ofFunction, (one) => one.calls) / share - checks);
    const own = accepted.shares.filter((one) => one.operationId === operationId);
    // The gateway refuses 429 before it calls a function.
    const called = own.filter(({ response }) => response !== '429');
    const planned = sumRequests({ shares: called });
    if (planned === 0) return [{ operationId, response: '200', requests: billed }];
    return own.map((one) => ({ ...one, requests: (one.requests * billed) / planned }));
  });
  const source = `the bill's calls of each function, with responses ${mix}`;
  return { ...accepted, shares: shares.filter((one) => one.requests > 0), source };
}

/** The mix of one traffic with as many requests as another. */
export function mixTraffic(mix: Traffic, traffic: Traffic): Traffic {
  const factor = sumRequests(traffic) / sumRequests(mix);
  if (!Number.isFinite(factor)) return { ...traffic, source: "the bill's requests" };
  const source = "the bill's requests in the mix of the stage's own logs";
  return { ...multiplyRequests(mix, factor), source };
}

/** The traffic in a stage's logs, as of a whole month. The scheduled check's requests are a part of the fixed costs. */
export function findLoggedTraffic({ access }: LogRows, accepted: Traffic, share: number): Traffic {
  const logged = access
    .filter(({ isCheck }) => toNumber(isCheck) === 0)
    .flatMap((row) => divideByKind(row, accepted));
  const kinds = Map.groupBy(logged, ({ operationId, response }) => `${operationId} ${response}`);
  const shares = [...kinds.values()].map((own) => {
    const [first] = own as [TrafficShare];
    return { ...first, requests: sumOf(own, ({ requests }) => requests) / share };
  });
  const source = "the stage's own logs";
  return { ...accepted, shares: shares.filter(({ requests }) => requests > 0), source };
}

/**
 * The kinds of response in a row of the gateway's log, which has only a status: the mix is that of the accepted
 * traffic. A failed request costs as much as a successful one, and 413 and others as much as 400.
 */
function divideByKind(row: QueryRow, accepted: Traffic): TrafficShare[] {
  const operationId = findOperation(row.method, row.route);
  // Such as a preflight, or an unknown path.
  if (operationId === undefined) return [];
  const { status: logged = '' } = row;
  const lines = toNumber(row.lines);
  const find = (begin: string) => responsesOf[operationId].find((one) => one.startsWith(begin));
  const status = Number(logged) >= 500 ? '200' : (find(logged)?.slice(0, 3) ?? '400');
  const toShare = (kind: string, part: number): TrafficShare => {
    return { operationId, response: find(kind) ?? '200', requests: part * lines };
  };
  const mix = accepted.shares.filter(
    (share) => share.operationId === operationId && share.response.startsWith(status),
  );
  const all = sumRequests({ shares: mix });
  if (all === 0) return [toShare(status, 1)];
  return mix.map((share) => ({ ...share, requests: (lines * share.requests) / all }));
}
