import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import {
  estimateDuration,
  type ResponseKind,
  type ResponseUnits,
  toBodyKind,
  toGatewayRequests,
} from '../../../infra/costs/units/responseUnits.ts';
import type { accessLogFormat } from '../../../infra/deploy/service/restApi.ts';
import { toJson } from '../../../shared/contract/json.ts';
import { type OperationId, operations } from '../../../shared/contract/operations.ts';
import type { InventoryItem } from '../../../shared/contract/schemas.ts';
import { compress } from '../../../shared/http/contentCoding.ts';
import {
  toInventoryItem,
  toInventoryRecord,
  toTaggedItem,
} from '../../../shared/store/inventoryRecord.ts';
import { toCompactItem, toPages } from '../../bench/canned/records.ts';
import type { ExactResponse } from '../../support/exactFetch.ts';

export type RequestLine = Readonly<Record<string, unknown>>;

export interface Seen {
  readonly operationId: OperationId;
  readonly response: ResponseKind;
  readonly received: ExactResponse;
  /** None if the request reached no function. */
  readonly line?: RequestLine;
  readonly entries?: number;
  readonly request?: string;
}

export function toResponseUnits(seen: Seen): ResponseUnits {
  const { operationId, response, received, line, entries, request } = seen;
  const responseBytes = toHeadBytes(received) + received.bytes.length;
  const lengths = { ...(entries !== undefined && { entries }), responseBytes };
  const billedMilliseconds = estimateDuration(operationId, response, lengths);
  const usual = line && toUsualLine(line, billedMilliseconds);
  return {
    operationId,
    response,
    ...(request !== undefined && { request }),
    ...(entries !== undefined && { entries }),
    gatewayRequests: line ? toGatewayRequests(responseBytes) : 0,
    functionCalls: line ? 1 : 0,
    billedMilliseconds,
    readUnits: Number(line?.readUnits ?? 0),
    writeUnits: Number(line?.writeUnits ?? 0),
    responseBytes,
    // CloudWatch bills only for the text.
    logBytes: {
      // Lambda's JSON log format: https://docs.aws.amazon.com/lambda/latest/dg/nodejs-logging.html
      request: usual
        ? toBytes({ timestamp: time, level: 'INFO', requestId: id, message: usual })
        : 0,
      // https://docs.aws.amazon.com/lambda/latest/dg/telemetry-schema-reference.html
      start: line ? 136 : 0,
      report: line ? 384 : 0,
      access: toBytes(toAccessLine(seen, billedMilliseconds)),
    },
  };
}

/** Gives fields that differ between runs, or on AWS, their usual length. */
function toUsualLine(line: RequestLine, milliseconds: number): RequestLine {
  return {
    ...line,
    requestId: id,
    milliseconds,
    ...('firstByteMilliseconds' in line && { firstByteMilliseconds: milliseconds }),
    ...(line.keyName !== undefined && { keyName: 'storefront-web' }),
    version: '42',
  };
}

/** Headers that the gateway adds to each response on AWS. */
const addedByTheGateway = [
  'x-amzn-RequestId: b2c3d4e5-0f1a-4b2c-8d3e-4f5a6b7c8d9e',
  'x-amz-apigw-id: AbCdEfGhIjKlMnO=',
  'X-Amzn-Trace-Id: Root=1-6922f0b2-710d76f009d6e7785905449a;Parent=0efbd19962d95b05;Sampled=0',
];

function toHeadBytes({ status, headers }: ExactResponse): number {
  const lines = [...headers]
    // The local stage's server alone adds it.
    .filter(([name]) => name !== 'keep-alive')
    .map(([name, value]) => `${name}: ${value}`);
  const first = `HTTP/1.1 ${status} ${status === 200 ? 'OK' : 'Precondition Failed'}`;
  return Buffer.byteLength([first, ...lines, ...addedByTheGateway, '', ''].join('\r\n'));
}

const id = 'b2c3d4e5-0f1a-4b2c-8d3e-4f5a6b7c8d9e';
const time = '2026-11-21T20:15:30.123Z';
function toAccessLine(
  { operationId, received, line }: Seen,
  milliseconds: number,
): Record<keyof typeof accessLogFormat, string> {
  const byFunction = (text: string) => (line ? text : '-');
  return {
    requestId: id,
    sourceIp: '203.0.113.195',
    // From fetch in Node.js, and so from our client.
    userAgent: 'node',
    method: operations[operationId].method,
    route: operations[operationId].path,
    status: String(received.status),
    bytes: String(received.bytes.length),
    latency: String(milliseconds),
    functionLatency: byFunction(String(milliseconds)),
    functionStatus: byFunction('200'),
    functionError: '-',
    functionRequestId: byFunction(id),
    gatewayError: line ? '-' : 'THROTTLED',
  };
}

function toBytes(line: object): number {
  return Buffer.byteLength(JSON.stringify(line));
}

/** Entry number `index` of the measured inventory, with ids as scattered as random ones. */
export function toMeasuredItem(index: number, idDigits = 19): InventoryItem {
  const item = toInventoryItem(toCompactItem(index));
  if (idDigits === 19) return item;
  return { ...item, petId: BigInt(`${item.petId}`.slice(-idDigits).replace(/^0/, '1')) };
}

/** A whole list: its read units, and the bytes of its body in each coding that was measured. */
export interface List {
  readonly entries: number;
  readonly idDigits: number;
  readonly readUnits: number;
  readonly bytes: Readonly<Partial<Record<ReturnType<typeof toBodyKind>, number>>>;
}

/** A list as the function makes it, from the pages of a Scan, then the same with tags, which is not compressed. */
export async function measureList(entries: number, idDigits: number): Promise<[List, List]> {
  const chunks: string[] = [];
  let readUnits = 0;
  const toRecord = (index: number) => toInventoryRecord(toMeasuredItem(index, idDigits));
  for (const page of toPages(entries, toRecord)) {
    chunks.push(
      chunks.length === 0 ? '[' : ',',
      toJson(page.items.map(toInventoryItem)).slice(1, -1),
    );
    readUnits += page.readUnits;
  }
  const text = [...chunks, ']'].map((chunk) => Buffer.from(chunk));
  const compressed = (coding: 'gzip' | 'zstd') => buffer(compress(Readable.from(text), coding));
  const [gzip, zstd] = await Promise.all([compressed('gzip'), compressed('zstd')]);
  const list = { entries, idDigits, readUnits };
  const plain = Buffer.concat(text).length;
  // The tags of entries that were never updated are equally long.
  const first = toRecord(0);
  const tagBytes = toJson(toTaggedItem(first)).length - toJson(toInventoryItem(first)).length;
  return [
    { ...list, bytes: { plain, gzip: gzip.length, zstd: zstd.length } },
    { ...list, bytes: { plain: plain + entries * tagBytes } },
  ];
}

/** The units of another list, calculated from those of a measured one. */
export function measureOtherList(seen: ResponseUnits, short: List, long: List): ResponseUnits {
  const kind = toBodyKind(seen.response);
  const grown = seen.response === '304' ? 0 : Number(long.bytes[kind]) - Number(short.bytes[kind]);
  const responseBytes = seen.responseBytes + grown;
  const { entries, idDigits, readUnits } = long;
  return {
    ...seen,
    entries,
    idDigits,
    readUnits,
    responseBytes,
    billedMilliseconds: estimateDuration(seen.operationId, seen.response, { entries }),
    gatewayRequests: toGatewayRequests(responseBytes),
  };
}
