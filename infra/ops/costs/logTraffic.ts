import type { OperationId } from '../../../shared/contract/operations.ts';
import { tell } from '../../cli/output.ts';
import {
  readCommittedTraffic,
  type Traffic,
  type TrafficShare,
} from '../../costs/bills/traffic.ts';
import { answersOf } from '../../costs/units/answerUnits.ts';
import { toAccessLogName } from '../../stages/resourceNames.ts';
import { type CostOptions, parseEntries } from './costOptions.ts';
import { findOperation, openLogs, readAccessRows, toNumber } from './logRows.ts';

/**
 * The requests of some days by the gateway's own log, as many as a month would have.
 * @returns `undefined` where asking it is not agreed to
 * @throws {UsageError} when what was typed makes no sense
 * @throws {Error} when the log cannot be asked
 */
export async function readLogTraffic(options: CostOptions): Promise<Traffic | undefined> {
  const committed = readCommittedTraffic();
  const entries = parseEntries(options.entries) ?? committed.entries;
  const logs = await openLogs(options, (stage) => [toAccessLogName(stage)]);
  if (!logs) return undefined;
  const { rows } = await readAccessRows(logs.client, logs.stage, logs.days);
  const months = logs.months.reduce((sum, { share }) => sum + share, 0);
  const shares = new Map<string, TrafficShare>();
  let others = 0;
  for (const row of rows) {
    const operationId = findOperation(row);
    if (operationId === undefined) others += toNumber(row.lines);
    else {
      for (const { answer, share } of divideByMix(operationId, row.status ?? '', committed)) {
        const name = `${operationId} ${answer}`;
        const requests = (share * toNumber(row.lines)) / months + (shares.get(name)?.requests ?? 0);
        shares.set(name, { operationId, answer, requests });
      }
    }
  }
  if (others > 0) {
    tell(
      `${others.toLocaleString('en-US')} requests are of no operation, such as preflights, and not in the traffic.`,
    );
  }
  const rounded = [...shares.values()].map((one) => ({
    ...one,
    requests: Math.round(one.requests),
  }));
  return { ...committed, entries, shares: rounded.filter(({ requests }) => requests > 0) };
}

/**
 * What the gateway does not tell, of the answers with one status: as in the committed traffic. What fails costs
 * what it would have otherwise, and 413 and the like what 400 does.
 */
function divideByMix(operationId: OperationId, logged: string, committed: Traffic) {
  const answers = answersOf[operationId];
  const known = answers.some((answer) => answer.startsWith(logged)) ? logged : '400';
  const status = Number(logged) >= 500 ? '200' : known;
  const mix = committed.shares.filter(
    (share) => share.operationId === operationId && share.answer.startsWith(status),
  );
  const all = mix.reduce((sum, { requests }) => sum + requests, 0);
  if (all > 0) return mix.map(({ answer, requests }) => ({ answer, share: requests / all }));
  return answers.filter((answer) => answer === status).map((answer) => ({ answer, share: 1 }));
}
