import { readFileSync } from 'node:fs';
import type { OperationId } from '../../../shared/contract/operations.ts';
import { findOperation } from '../../../shared/contract/paths.ts';
import { type QueryRow, toNumber } from '../../cli/logsInsights.ts';
import { writeOut } from '../../cli/output.ts';
import {
  committedFile,
  parseTraffic,
  sumRequests,
  type Traffic,
} from '../../costs/bills/traffic.ts';
import { sumOf } from '../../costs/bills/usage.ts';
import { type CostOptions, parseDayRange } from '../../costs/costOptions.ts';
import { readRecordedUnits, responsesOf } from '../../costs/units/responseUnits.ts';
import { checkAgent } from '../../gateway/probes.ts';
import { openLogs, readLogRows } from './logRows.ts';

/** Prints the requests of some days from the stage's logs, scaled to a month. The rest is that of the committed traffic. */
export async function runMeasure(options: CostOptions<'measure'>): Promise<void> {
  const text = readFileSync(committedFile, 'utf8');
  const committed = parseTraffic(text);
  const logs = await openLogs(options, parseDayRange(options));
  if (!logs) return;
  const months = sumOf(logs.months, ({ share }) => share);
  const sums = new Map<string, number>();
  // The scheduled check's requests are a part of the fixed costs.
  const ofClients = [`filter userAgent != "${checkAgent}"`];
  const { functions, access } = await readLogRows(logs.client, logs.stage, logs.days, ofClients);
  for (const row of access) {
    for (const [name, share] of divideByKind(row, committed, functions)) {
      sums.set(name, (sums.get(name) ?? 0) + share * toNumber(row.lines));
    }
  }
  const requests = [...sums]
    .filter(([, sum]) => sum > 0)
    .map(([name, sum]) => [name, Math.round(sum / months)]);
  const file = { ...JSON.parse(text), requests: Object.fromEntries(requests) };
  await writeOut(`${JSON.stringify(file, null, 2)}\n`);
}

/**
 * The kinds of response in a row of the gateway's log, which has only a status, each with its share. Write units in the
 * functions' log tell updates with a key; for other kinds, the mix is that of the committed traffic. A failed request
 * costs as much as a successful one, and 413 and others as much as 400.
 */
function divideByKind(
  row: QueryRow,
  committed: Traffic,
  functions: readonly QueryRow[],
): [name: string, share: number][] {
  const operationId = findOperation(row.method, row.route);
  // Such as a preflight, or an unknown path.
  if (operationId === undefined) return [];
  const { status: logged = '' } = row;
  const isKnown = responsesOf[operationId].some((response) => response.startsWith(logged));
  const status = Number(logged) >= 500 ? '200' : isKnown ? logged : '400';
  const keyed = toKeyedShare(operationId, status, functions);
  if (keyed !== undefined) {
    return [
      [`${operationId} ${status}`, 1 - keyed],
      [`${operationId} ${status} Idempotency-Key`, keyed],
    ];
  }
  const mix = committed.shares.filter(
    (share) => share.operationId === operationId && share.response.startsWith(status),
  );
  const all = sumRequests({ shares: mix });
  if (all === 0) return [[`${operationId} ${status}`, 1]];
  return mix.map(({ response, requests }) => [`${operationId} ${response}`, requests / all]);
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
