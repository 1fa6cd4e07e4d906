import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { SchemaElement } from 'hyparquet';
import { parquetWriteBuffer } from 'hyparquet-writer';

/** What a line of a bill says, whatever the export that it stands in. */
export interface Line {
  /** As a Cost and Usage Report names it, and as FOCUS does. */
  readonly service: readonly [code: string, name: string];
  readonly usageType: string;
  readonly quantity: number;
  readonly dollars: number;
  readonly stage?: string;
  readonly kind?: string;
  readonly start?: string;
}

export const services = {
  gateway: ['AmazonApiGateway', 'Amazon API Gateway'],
  lambda: ['AWSLambda', 'AWS Lambda'],
  dynamoDb: ['AmazonDynamoDB', 'Amazon DynamoDB'],
  cloudWatch: ['AmazonCloudWatch', 'AmazonCloudWatch'],
  keys: ['awskms', 'AWS Key Management Service'],
  storage: ['AmazonS3', 'Amazon Simple Storage Service'],
} as const;

const start = '2026-11-07T10:00:00Z';
export type Row = Readonly<Record<string, string | number>>;

/** A line in the columns of each kind of export, with a column that nobody asks for. */
export const layouts: Readonly<Record<'CUR 2.0' | 'FOCUS', (line: Line) => Row>> = {
  'CUR 2.0': (line) => ({
    identity_line_item_id: 'a,"b"',
    line_item_line_item_type: line.kind ?? 'Usage',
    line_item_usage_start_date: line.start ?? start,
    line_item_product_code: line.service[0],
    line_item_usage_type: line.usageType,
    line_item_usage_amount: line.quantity,
    line_item_unblended_cost: line.dollars,
    resource_tags: JSON.stringify(line.stage ? { user_stage: line.stage, user_owner: 'us' } : {}),
  }),
  FOCUS: (line) => ({
    ChargeDescription: 'a,"b"',
    ChargeCategory: line.kind ?? 'Usage',
    ChargePeriodStart: line.start ?? start,
    ServiceName: line.service[1],
    x_UsageType: line.usageType,
    ConsumedQuantity: line.quantity,
    BilledCost: line.dollars,
    Tags: JSON.stringify(line.stage ? { stage: line.stage, service: 'petstore' } : {}),
  }),
};

export function toCsv(rows: readonly Row[]): string {
  const lines = [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))];
  return lines
    .map((cells) => cells.map((cell) => `"${String(cell).replaceAll('"', '""')}"`).join(','))
    .join('\r\n');
}

/** In row groups of two, with times as such, and the tags of CUR 2.0 as the map that they are there. */
export function toParquet(rows: readonly Row[]): Uint8Array {
  const names = Object.keys(rows[0] ?? {});
  const columns = names.map((name) => {
    const cells = rows.map((row) => row[name] ?? '');
    if (name === 'resource_tags') {
      return { schema: toMapSchema(name), data: cells.map((cell) => JSON.parse(String(cell))) };
    }
    if (/start/i.test(name)) {
      const type = { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' } as const;
      return { schema: [{ name, ...type }], data: cells.map((cell) => new Date(cell)) };
    }
    const isNumber = typeof cells[0] === 'number';
    const text = { type: 'BYTE_ARRAY', converted_type: 'UTF8' } as const;
    return { schema: [{ name, ...(isNumber ? { type: 'DOUBLE' as const } : text) }], data: cells };
  });
  const schema = [
    { name: 'root', num_children: names.length },
    ...columns.flatMap((column): SchemaElement[] => column.schema),
  ];
  const columnData = columns.map(({ data }, index) => ({ name: names[index] ?? '', data }));
  return new Uint8Array(parquetWriteBuffer({ schema, columnData, rowGroupSize: 2 }));
}

function toMapSchema(name: string): SchemaElement[] {
  const text = { type: 'BYTE_ARRAY', converted_type: 'UTF8' } as const;
  return [
    { name, num_children: 1, converted_type: 'MAP', repetition_type: 'OPTIONAL' },
    { name: 'key_value', num_children: 2, repetition_type: 'REPEATED' },
    { name: 'key', ...text, repetition_type: 'REQUIRED' },
    { name: 'value', ...text, repetition_type: 'OPTIONAL' },
  ];
}

/** A folder for exports, until it is disposed of. */
export function openExports() {
  const folder = mkdtempSync(join(tmpdir(), 'exports-'));
  return {
    write(name: string, content: string | Uint8Array): string {
      const file = join(folder, name);
      writeFileSync(file, name.endsWith('.gz') ? gzipSync(content) : content);
      return file;
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}
