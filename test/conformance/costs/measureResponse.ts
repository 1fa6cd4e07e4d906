import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type RequestUnits, toGatewayRequests } from '../../../infra/costs/units.ts';
import type { accessLogFormat } from '../../../infra/deploy/service/restApi.ts';
import { toJson } from '../../../shared/contract/json.ts';
import { operations } from '../../../shared/contract/operations.ts';
import type { InventoryItem } from '../../../shared/contract/schemas.ts';
import { compress } from '../../../shared/http/contentCoding.ts';
import {
  toInventoryItem,
  toInventoryRecord,
  toTaggedItem,
  toVersionValue,
} from '../../../shared/store/inventoryRecord.ts';
import { toCompactItem, toPages } from '../../bench/canned/records.ts';
import type { ExactResponse } from '../../support/exactFetch.ts';

export type RequestLine = Readonly<Record<string, unknown>>;

/** What the local stage shows of one request, or what its own code makes of a long list. */
export interface Measured {
  readonly readUnits: number;
  readonly writeUnits: number;
  readonly headBytes: number;
  readonly bodyBytes: number;
  /** The function's line of log. */
  readonly lineBytes: number;
  readonly storedBytes: number;
}

type Row = Pick<RequestUnits, 'operationId' | 'response' | 'request' | 'entries'>;

export function toMeasured(
  received: ExactResponse,
  line: RequestLine | undefined,
  milliseconds: number,
  storedBytes: number,
): Measured {
  return {
    readUnits: Number(line?.readUnits ?? 0),
    writeUnits: Number(line?.writeUnits ?? 0),
    headBytes: toHeadBytes(received),
    bodyBytes: received.bytes.length,
    // Lambda's JSON log format: https://docs.aws.amazon.com/lambda/latest/dg/nodejs-logging.html
    lineBytes: line
      ? toBytes({
          timestamp: '2026-11-21T20:15:30.123Z',
          level: 'INFO',
          requestId: id,
          message: toUsualLine(line, milliseconds),
        })
      : 0,
    storedBytes,
  };
}

/** What was measured, with what AWS adds to it and the assumed time. */
export function toUnits(row: Row, measured: Measured, status: number, milliseconds: number) {
  const { readUnits, writeUnits, headBytes, bodyBytes, lineBytes, storedBytes } = measured;
  const isCalled = lineBytes > 0;
  const sentBytes = headBytes + bodyBytes + gatewayHeadBytes;
  // CloudWatch bills only for the text.
  const access = toBytes(toAccessLine(row.operationId, status, measured, milliseconds));
  const priced: RequestUnits['priced'] = {
    gatewayRequests: toGatewayRequests(sentBytes),
    functionCalls: isCalled ? 1 : 0,
    milliseconds: isCalled ? milliseconds : 0,
    readUnits,
    writeUnits,
    sentBytes,
    loggedBytes: lineBytes + (isCalled ? LINES_OF_LAMBDA : 0) + access,
    storedBytes,
  };
  return { ...row, measured, priced };
}

/** https://docs.aws.amazon.com/lambda/latest/dg/telemetry-schema-reference.html */
const LINES_OF_LAMBDA = 136 + 384;

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
const gatewayHeadBytes = Buffer.byteLength(addedByTheGateway.map((one) => `${one}\r\n`).join(''));

function toHeadBytes({ status, headers }: ExactResponse): number {
  const lines = [...headers]
    // The local stage's server alone adds it.
    .filter(([name]) => name !== 'keep-alive')
    .map(([name, value]) => `${name}: ${value}`);
  const first = `HTTP/1.1 ${status} ${status === 200 ? 'OK' : 'Precondition Failed'}`;
  return Buffer.byteLength([first, ...lines, '', ''].join('\r\n'));
}

const id = 'b2c3d4e5-0f1a-4b2c-8d3e-4f5a6b7c8d9e';
function toAccessLine(
  operationId: Row['operationId'],
  status: number,
  { bodyBytes, lineBytes }: Measured,
  milliseconds: number,
): Record<keyof typeof accessLogFormat, string> {
  const byFunction = (text: string) => (lineBytes > 0 ? text : '-');
  const route = operationId === 'other' ? { method: 'GET', path: '/' } : operations[operationId];
  return {
    requestId: id,
    sourceIp: '203.0.113.195',
    // From fetch in Node.js, and so from our client.
    userAgent: 'node',
    method: route.method,
    route: route.path,
    status: String(status),
    bytes: String(bodyBytes),
    latency: String(milliseconds),
    functionLatency: byFunction(String(milliseconds)),
    functionStatus: byFunction('200'),
    functionError: '-',
    functionRequestId: byFunction(id),
    gatewayError: lineBytes > 0 ? '-' : 'MISSING_AUTHENTICATION_TOKEN',
  };
}

function toBytes(line: object): number {
  return Buffer.byteLength(JSON.stringify(line));
}

/** Entry number `index` of the measured inventory, with ids as scattered as random ones. */
export function toMeasuredItem(index: number): InventoryItem {
  return toInventoryItem(toCompactItem(index));
}

/** Of an entry that has been updated, as all are assumed to be. */
const version = toVersionValue('AAAAAAA');

/** A whole list as the function makes it, from the pages of a Scan: its read units, and the bytes of its body. */
export async function measureList(entries: number) {
  const chunks: string[] = [];
  let readUnits = 0;
  const toRecord = (index: number) => ({ ...toInventoryRecord(toMeasuredItem(index)), v: version });
  for (const page of toPages(entries, toRecord)) {
    const items = toJson(page.items.map(toInventoryItem)).slice(1, -1);
    chunks.push(chunks.length === 0 ? '[' : ',', items);
    readUnits += page.readUnits;
  }
  const text = [...chunks, ']'].map((chunk) => Buffer.from(chunk));
  const gzip = await buffer(compress(Readable.from(text), 'gzip'));
  const plain = Buffer.concat(text).length;
  const first = toRecord(0);
  const tagBytes = toJson(toTaggedItem(first)).length - toJson(toInventoryItem(first)).length;
  const bytes: Readonly<Record<string, number>> = {
    '200': plain,
    '200 gzip': gzip.length,
    '200 etag': plain + entries * tagBytes,
    '304': 0,
  };
  return { readUnits, bytes };
}
