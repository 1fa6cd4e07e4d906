import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import { findOperation } from '../../../shared/contract/paths.ts';
import { type QueryRow, toNumber } from '../../cli/logsInsights.ts';
import { priceMonth } from '../bills/monthlyBill.ts';
import { sumRequests, type Traffic, type TrafficShare } from '../bills/traffic.ts';
import { sumOf } from '../bills/usage.ts';
import type { PricedStage } from '../figures.ts';
import { findUnits, readRecordedUnits, responsesOf } from '../units/responseUnits.ts';
import type { LogRows } from './logRows.ts';

/**
 * The traffic of a bill, as of a whole month. A bill counts the calls of each function if it names resources, and
 * otherwise only the requests of all. Their mix is that of the accepted traffic.
 * @param share how much of the month the bill has
 */
export function toBilledTraffic(
  stage: PricedStage,
  accepted: Traffic,
  calls: readonly { readonly operation: string; readonly calls: number }[],
  requests: number,
  share: number,
): Traffic {
  const { usage: ofChecks } = priceMonth(stage, { ...accepted, shares: [] });
  if (calls.length === 0) {
    const { usage } = priceMonth(stage, accepted);
    const own = requests / share - ofChecks.gatewayRequests;
    const factor = Math.max(0, own) / (usage.gatewayRequests - ofChecks.gatewayRequests);
    const source = "the bill's requests in the mix of infra/costs/traffic.json";
    return { ...scale(accepted, () => factor), source };
  }
  const { checkEveryMinutes } = stage.settings;
  const checks = checkEveryMinutes ? (730 * 60) / checkEveryMinutes : 0;
  const toFactor = (id: OperationId) => {
    const billed = sumOf(
      calls.filter(({ operation }) => operation === id),
      (one) => one.calls,
    );
    const planned = sumOf(
      accepted.shares.filter(({ operationId }) => operationId === id),
      ({ operationId, response, requests }) =>
        requests *
        (findUnits({ units: readRecordedUnits() }, operationId, response, accepted.entries)
          ?.functionCalls ?? 1),
    );
    return { requests: Math.max(0, billed / share - checks), planned };
  };
  const factors = new Map(operationIds.map((id) => [id, toFactor(id)]));
  const added = [...factors].flatMap(([operationId, { planned, requests }]): TrafficShare[] =>
    planned === 0 && requests > 0 ? [{ operationId, response: '200', requests }] : [],
  );
  const scaled = scale(accepted, (id) => {
    const { requests = 0, planned = 0 } = factors.get(id) ?? {};
    return planned > 0 ? requests / planned : 0;
  });
  return {
    ...scaled,
    shares: [...scaled.shares, ...added],
    source:
      "the bill's calls of each function, with responses in the mix of infra/costs/traffic.json",
  };
}

function scale(traffic: Traffic, toFactor: (id: OperationId) => number): Traffic {
  const shares = traffic.shares.map((share) => ({
    ...share,
    requests: share.requests * toFactor(share.operationId),
  }));
  return { ...traffic, shares };
}

/** The mix of one traffic with as many requests as another. */
export function toMixOf(mix: Traffic, traffic: Traffic): Traffic {
  const factor = sumRequests(traffic) / sumRequests(mix);
  if (!Number.isFinite(factor)) return { ...traffic, source: "the bill's requests" };
  const source = "the bill's requests in the mix of the stage's own logs";
  return { ...scale(mix, () => factor), source };
}

/** The traffic in a stage's logs, as of a whole month. The scheduled check's requests are a part of the fixed costs. */
export function toLoggedTraffic(
  { access, functions }: LogRows,
  accepted: Traffic,
  share: number,
): Traffic {
  const sums = new Map<string, TrafficShare>();
  for (const row of access.filter(({ isCheck }) => toNumber(isCheck) === 0)) {
    for (const [part, own] of divideByKind(row, accepted, functions)) {
      const name = `${own.operationId} ${own.response}`;
      const requests = (sums.get(name)?.requests ?? 0) + (part * toNumber(row.lines)) / share;
      if (requests > 0) sums.set(name, { ...own, requests });
    }
  }
  return { ...accepted, shares: [...sums.values()], source: "the stage's own logs" };
}

type Kind = Pick<TrafficShare, 'operationId' | 'response'>;

/**
 * The kinds of response in a row of the gateway's log, which has only a status, each with its share. Write units in the
 * functions' log tell updates with a key; for other kinds, the mix is that of the accepted traffic. A failed request
 * costs as much as a successful one, and 413 and others as much as 400.
 */
function divideByKind(
  row: QueryRow,
  accepted: Traffic,
  functions: readonly QueryRow[],
): [part: number, kind: Kind][] {
  const operationId = findOperation(row.method, row.route);
  // Such as a preflight, or an unknown path.
  if (operationId === undefined) return [];
  const { status: logged = '' } = row;
  const find = (begin: string) => responsesOf[operationId].find((one) => one.startsWith(begin));
  const status = Number(logged) >= 500 ? '200' : (find(logged)?.slice(0, 3) ?? '400');
  const toKind = (response: string): Kind => ({ operationId, response: find(response) ?? '200' });
  const keyed = toKeyedShare(operationId, status, functions);
  if (keyed !== undefined) {
    return [
      [1 - keyed, toKind(status)],
      [keyed, toKind(`${status} Idempotency-Key`)],
    ];
  }
  const mix = accepted.shares.filter(
    (share) => share.operationId === operationId && share.response.startsWith(status),
  );
  const all = sumRequests({ shares: mix });
  if (all === 0) return [[1, toKind(status)]];
  return mix.map(({ response, requests }) => [requests / all, { operationId, response }]);
}

/** The share of requests with a key, by their write units. Undefined if there is no such kind, or nothing was logged. */
function toKeyedShare(operationId: OperationId, status: string, functions: readonly QueryRow[]) {
  const [plain, keyed] = [status, `${status} Idempotency-Key`].map((response) =>
    readRecordedUnits().find((one) => one.operationId === operationId && one.response === response),
  );
  const own = functions.filter((row) => row.operation === operationId && row.status === status);
  const sum = (name: string) => sumOf(own, (row) => toNumber(row[name]));
  if (!plain || !keyed || sum('lines') === 0) return undefined;
  const perRequest = sum('writeUnits') / sum('lines');
  const share = (perRequest - plain.writeUnits) / (keyed.writeUnits - plain.writeUnits);
  // Conflicts take further units.
  return Math.min(1, Math.max(0, share));
}
