import { readFileSync } from 'node:fs';
import { findOperation, type QueryRow, toNumber } from '../../cli/logsInsights.ts';
import { writeOut } from '../../cli/output.ts';
import { committedFile, parseTraffic, type Traffic } from '../../costs/bills/traffic.ts';
import { answersOf } from '../../costs/units/answerUnits.ts';
import { toAccessLogName } from '../../stages/resourceNames.ts';
import type { CostOptions } from './costOptions.ts';
import { openLogs, readAccessRows } from './logRows.ts';

/**
 * Prints the requests of some days from the gateway's own log, scaled to a month. The rest is that of the committed
 * traffic. Prints nothing if the user does not accept the cost of the query.
 * @throws {UsageError} when what was typed makes no sense
 * @throws {Error} when the log cannot be asked
 */
export async function printLogTraffic(options: CostOptions<'measure'>): Promise<void> {
  const text = readFileSync(committedFile, 'utf8');
  const committed = parseTraffic(text);
  const logs = await openLogs(options, (stage) => [toAccessLogName(stage)]);
  if (!logs) return;
  const months = logs.months.reduce((sum, { share }) => sum + share, 0);
  const sums = new Map<string, number>();
  for (const row of await readAccessRows(logs.client, logs.stage, logs.days)) {
    for (const [name, share] of divideByMix(row, committed)) {
      sums.set(name, (sums.get(name) ?? 0) + share * toNumber(row.lines));
    }
  }
  const requests = [...sums].map(([name, sum]) => [name, Math.round(sum / months)]);
  const file = { ...JSON.parse(text), requests: Object.fromEntries(requests) };
  await writeOut(`${JSON.stringify(file, null, 2)}\n`);
}

/**
 * The answers of a row, each with its share of the committed traffic, since a row has only a status. A failed request
 * costs as much as a successful one, and 413 and others as much as 400.
 */
function divideByMix(row: QueryRow, committed: Traffic): [name: string, share: number][] {
  const operationId = findOperation(row);
  // Such as a preflight, or an unknown path.
  if (operationId === undefined) return [];
  const { status: logged = '' } = row;
  const isKnown = answersOf[operationId].some((answer) => answer.startsWith(logged));
  const status = Number(logged) >= 500 ? '200' : isKnown ? logged : '400';
  const mix = committed.shares.filter(
    (share) => share.operationId === operationId && share.answer.startsWith(status),
  );
  const all = mix.reduce((sum, { requests }) => sum + requests, 0);
  if (all === 0) return [[`${operationId} ${status}`, 1]];
  return mix.map(({ answer, requests }) => [`${operationId} ${answer}`, requests / all]);
}
