import { readFileSync } from 'node:fs';
import { DescribeTableCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import type { InventoryRecord } from '../../../shared/store/inventoryRecord.ts';
import { findOperation, type QueryRow, toNumber } from '../../cli/logsInsights.ts';
import { writeOut } from '../../cli/output.ts';
import { parseStage } from '../../cli/stageOption.ts';
import { openTable } from '../../cli/tableOption.ts';
import { committedFile, parseTraffic, type Traffic } from '../../costs/bills/traffic.ts';
import { responsesOf } from '../../costs/units/responseUnits.ts';
import { checkAgent } from '../../service/hook/probes.ts';
import { toAccessLogName, toTableOutput } from '../../stages/resourceNames.ts';
import type { CostOptions } from './costOptions.ts';
import { openLogs, readAccessRows } from './logRows.ts';

/**
 * Measures what the model assumes: the traffic if days were typed, else the entries.
 * @throws {UsageError} when what was typed makes no sense
 * @throws {Error} when the log or the table cannot be read, or the table is empty
 */
export function runMeasure(options: CostOptions<'measure'>): Promise<void> {
  const isOfDays = options.from !== undefined || options.to !== undefined;
  return isOfDays ? measureTraffic(options) : measureEntries(options);
}

/** Describes a stage's entries by a sample of its table. */
async function measureEntries(options: CostOptions<'measure'>): Promise<void> {
  const { name: stage } = parseStage(options.stage);
  const { client, tableName } = await openTable(toTableOutput('inventory'), { stage });
  // A scan reads in the order of hashes, so its first page is a random sample.
  const sample = await client.send(new ScanCommand({ TableName: tableName, Limit: 3_000 }));
  const records = (sample.Items ?? []) as unknown as InventoryRecord[];
  if (records.length === 0) throw new Error(`The table ${tableName} has no entries to measure.`);
  const digits = records.reduce((sum, { p }) => sum + p.N.replace('-', '').length, 0);
  const tagged = records.filter(({ v }) => v).length;
  const idDigits = Number((digits / records.length).toFixed(1));
  const taggedShare = Number((tagged / records.length).toFixed(2));
  if (options.json) return writeOut(`${JSON.stringify({ [stage]: { idDigits, taggedShare } })}\n`);
  const { Table } = await client.send(new DescribeTableCommand({ TableName: tableName }));
  const entries = Number(Table?.ItemCount).toLocaleString('en-US');
  await writeOut(`Read ${records.length} of the ${entries} entries of ${stage} (DynamoDB counts them every six hours).
Their ids have ${idDigits} digits on average. ${Math.round(100 * taggedShare)} % have been updated, and so have a version.
For infra/costs/sizes.json:
  "${stage}": { "idDigits": ${idDigits}, "taggedShare": ${taggedShare} }
`);
}

/**
 * Prints the requests of some days from the gateway's own log, scaled to a month. The rest is that of the committed
 * traffic. Prints nothing if the user does not accept the cost of the query.
 */
async function measureTraffic(options: CostOptions<'measure'>): Promise<void> {
  const text = readFileSync(committedFile, 'utf8');
  const committed = parseTraffic(text);
  const logs = await openLogs(options, (stage) => [toAccessLogName(stage)]);
  if (!logs) return;
  const months = logs.months.reduce((sum, { share }) => sum + share, 0);
  const sums = new Map<string, number>();
  // The scheduled check's requests are a part of the fixed costs.
  const ofClients = [`filter userAgent != "${checkAgent}"`];
  for (const row of await readAccessRows(logs.client, logs.stage, logs.days, ofClients)) {
    for (const [name, share] of divideByMix(row, committed)) {
      sums.set(name, (sums.get(name) ?? 0) + share * toNumber(row.lines));
    }
  }
  const requests = [...sums].map(([name, sum]) => [name, Math.round(sum / months)]);
  const file = { ...JSON.parse(text), requests: Object.fromEntries(requests) };
  await writeOut(`${JSON.stringify(file, null, 2)}\n`);
}

/**
 * The responses of a row, each with its share of the committed traffic, since a row has only a status. A failed request
 * costs as much as a successful one, and 413 and others as much as 400.
 */
function divideByMix(row: QueryRow, committed: Traffic): [name: string, share: number][] {
  const operationId = findOperation(row);
  // Such as a preflight, or an unknown path.
  if (operationId === undefined) return [];
  const { status: logged = '' } = row;
  const isKnown = responsesOf[operationId].some((response) => response.startsWith(logged));
  const status = Number(logged) >= 500 ? '200' : isKnown ? logged : '400';
  const mix = committed.shares.filter(
    (share) => share.operationId === operationId && share.response.startsWith(status),
  );
  const all = mix.reduce((sum, { requests }) => sum + requests, 0);
  if (all === 0) return [[`${operationId} ${status}`, 1]];
  return mix.map(({ response, requests }) => [`${operationId} ${response}`, requests / all]);
}
