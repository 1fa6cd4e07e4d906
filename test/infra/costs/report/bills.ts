import { gzipSync } from 'node:zlib';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { priceMonth } from '../../../../infra/costs/bills/monthlyBill.ts';
import { readCommittedTraffic, type Traffic } from '../../../../infra/costs/bills/traffic.ts';
import type { PricedStage } from '../../../../infra/costs/figures.ts';
import { type UsageKind, usageKinds, usageParts } from '../../../../infra/costs/prices.ts';

/** A line of a bill, whatever its format. Costs are before discounts; `discount` is a share. */
export interface Line {
  readonly kind: string;
  readonly service: string;
  readonly usageType: string;
  readonly region: string;
  readonly account: string;
  readonly quantity: number;
  readonly cost: number;
  /** AWS's list cost, where it is not the cost. */
  readonly list?: number;
  readonly discount?: number;
  readonly from: string;
  readonly end: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly resource?: string;
  readonly currency?: string;
}

export type Place = readonly [region: string, prefix: string];
export const places = [
  ['us-east-1', 'USE1'],
  ['eu-central-1', 'EUC1'],
] as const satisfies Place[];

export const account = '123456789012';
export const tagsOfStage = { stage: 'production', service: 'petstore' };
const names: Readonly<Record<string, string>> = { AWSDataTransfer: 'AmazonApiGateway' };
/** AWS gives these no tags. */
const untaggable: readonly UsageKind[] = ['traces', 'customMetrics'];
/** Billed day by day, as the rest is by the month. */
const daily: readonly UsageKind[] = ['gatewayRequests', 'functionCalls', 'readUnits'];

export const toTime = (month: string, day: number) =>
  new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)) - 1, day)).toISOString();
export const toLength = (month: string) =>
  Number(
    toTime(month, 32) &&
      new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)), 0)).getUTCDate(),
  );

/** A month's bill exactly as in the model: list prices, and the accepted traffic or another. */
export function makeBill(
  priced: PricedStage,
  [region, prefix]: Place,
  month = '2026-11',
  traffic: Traffic = readCommittedTraffic(),
): Line[] {
  const stage = { ...priced, settings: { ...priced.settings, region } };
  const { usage, rates } = priceMonth(stage, traffic);
  const length = toLength(month);
  return usageKinds
    .filter((kind) => usage[kind] > 0)
    .flatMap((kind) => {
      const [, , code, type, alsoNamed] = usageParts[kind];
      const named = alsoNamed ? 'TimedStorage-ByteHrs' : type;
      const usageType =
        kind === 'loggedGigabytes'
          ? 'VendedLog-Bytes'
          : kind === 'streamedGigabytes'
            ? type
            : named;
      const parts = daily.includes(kind) ? length : 1;
      return Array.from({ length: parts }, (_, index) => ({
        ...{ kind: 'Usage', service: names[code] ?? code, usageType: `${prefix}-${usageType}` },
        ...{
          region,
          account,
          quantity: usage[kind] / parts,
          cost: (usage[kind] * rates[kind]) / parts,
        },
        from: toTime(month, 1 + index),
        end: toTime(month, parts === 1 ? length + 1 : 2 + index),
        tags: untaggable.includes(kind) ? {} : tagsOfStage,
      }));
    });
}

export const times = (line: Line, factor: number): Line => ({
  ...{ ...line, quantity: line.quantity * factor, cost: line.cost * factor },
  ...(line.list === undefined ? {} : { list: line.list * factor }),
});

export type Tags = 'map' | 'columns' | 'tags';
/** The names and values of the columns, with some that are not read, as AWS exports them. */
const toCur = (line: Line, tags: Tags): Record<string, unknown> => ({
  identity_line_item_id: `${line.usageType}${line.from}`,
  bill_payer_account_id: '999999999999',
  line_item_usage_account_id: line.account,
  line_item_line_item_type: line.kind,
  line_item_usage_start_date: line.from,
  line_item_usage_end_date: line.end,
  line_item_product_code: line.service,
  line_item_usage_type: line.usageType,
  line_item_line_item_description: 'A "line", with a comma',
  line_item_usage_amount: line.quantity,
  line_item_currency_code: line.currency ?? 'USD',
  line_item_unblended_cost: line.cost,
  line_item_net_unblended_cost: line.cost * (1 - (line.discount ?? 0)),
  pricing_public_on_demand_cost: line.list ?? line.cost,
  product_region_code: line.region,
  line_item_resource_id: line.resource ?? '',
  ...toCurTags(line.tags, tags),
});

function toCurTags(tags: Line['tags'], form: Tags): Record<string, unknown> {
  const { stage = '', service = '' } = tags;
  const named = (prefix: string) =>
    Object.fromEntries(Object.entries(tags).map(([name, value]) => [`${prefix}${name}`, value]));
  if (form === 'columns')
    return { 'resourceTags/user:stage': stage, 'resourceTags/user:service': service };
  if (form === 'tags') return { tags: { ...named('resourceTags/'), 'accountTag/stage': 'none' } };
  return { resource_tags: named('user_') };
}

/** In FOCUS, costs are after discounts, and a plan's use is one line of $0. */
const toFocus = (line: Line, version: '1.0' | '1.2'): Record<string, unknown> => ({
  BilledCost: line.cost * (1 - (line.discount ?? 0)),
  BillingAccountId: '999999999999',
  BillingCurrency: line.currency ?? 'USD',
  ChargeCategory: categories[line.kind] ?? line.kind,
  ChargeClass: line.kind === 'Refund' ? 'Correction' : '',
  ChargeDescription: 'A "line", with a comma',
  ChargePeriodStart: line.from,
  ChargePeriodEnd: line.end,
  CommitmentDiscountId:
    line.kind === 'SavingsPlanCoveredUsage' ? 'arn:aws:savingsplans::1:savingsplan/1' : '',
  ConsumedQuantity: line.quantity,
  EffectiveCost: line.cost * (1 - (line.discount ?? 0)),
  ListCost: line.list ?? line.cost,
  RegionId: line.region,
  ResourceId: line.resource ?? '',
  ServiceName: focusNames[line.service] ?? line.service,
  SubAccountId: line.account,
  Tags: line.tags,
  x_ServiceCode: line.service,
  ...(version === '1.0' ? { x_UsageType: line.usageType } : { SkuMeter: line.usageType }),
});
const categories: Readonly<Record<string, string>> = {
  ...{ SavingsPlanCoveredUsage: 'Usage', Refund: 'Usage', Fee: 'Purchase' },
};
/** Services have other names in FOCUS. */
const focusNames: Readonly<Record<string, string>> = {
  AmazonApiGateway: 'Amazon API Gateway',
  AWSLambda: 'AWS Lambda',
  AmazonDynamoDB: 'Amazon DynamoDB',
  awskms: 'AWS Key Management Service',
  AWSXRay: 'AWS X-Ray',
};

export const formats = ['cur.csv', 'cur.parquet', 'focus.csv.gz', 'focus.parquet'] as const;
export type Format = (typeof formats)[number];

/** In FOCUS, a Savings Plan's use is one line that bills nothing. */
function toRows(format: Format, lines: readonly Line[], tags: Tags): Record<string, unknown>[] {
  if (format.startsWith('cur')) return lines.map((line) => toCur(line, tags));
  return lines
    .filter(({ kind }) => kind !== 'SavingsPlanNegation')
    .map((line) =>
      line.kind === 'SavingsPlanCoveredUsage' ? { ...line, list: line.cost, cost: 0 } : line,
    )
    .map((line) => toFocus(line, format === 'focus.parquet' ? '1.2' : '1.0'));
}

export function toCsv(rows: readonly Record<string, unknown>[], comma = ','): string {
  const toCell = (cell: unknown) => {
    const text = typeof cell === 'object' ? JSON.stringify(cell) : String(cell);
    return `"${text.replaceAll('"', '""')}"`;
  };
  const columns = Object.keys(rows[0] ?? {});
  return [columns, ...rows.map((row) => columns.map((name) => row[name]))]
    .map((row) => row.map(toCell).join(comma))
    .join('\r\n');
}

/** Writes a bill as AWS does: all text in CSV; in Parquet numbers as DOUBLE, times as TIMESTAMP, and tags as a map. */
export async function writeBill(
  folder: {
    toPath(name: string): string;
    write(name: string, content: string | Uint8Array): string;
  },
  format: Format,
  lines: readonly Line[],
  tags: Tags = 'map',
): Promise<string> {
  const rows = toRows(format, lines, tags);
  const csv = toCsv(rows);
  if (format === 'cur.csv') return folder.write(format, csv);
  if (format === 'focus.csv.gz') return folder.write(format, gzipSync(csv));
  const source = folder.write(`${format}.csv`, csv);
  const target = folder.toPath(format);
  const columns = Object.keys(rows[0] ?? {}).map((column) => {
    const name = `"${column}"`;
    if (/cost|amount|quantity/i.test(name)) return `${name}::DOUBLE AS ${name}`;
    if (/_date|Period/.test(name)) return `${name}::TIMESTAMP AS ${name}`;
    if (/^"(resource_)?tags"$/i.test(name))
      return `from_json(${name}, '"MAP(VARCHAR, VARCHAR)"') AS ${name}`;
    return name;
  });
  writer ??= await (await DuckDBInstance.create(':memory:')).connect();
  await writer.run(
    `COPY (SELECT ${columns.join(', ')} FROM read_csv('${source}', header = true, all_varchar = true, quote = '"', escape = '"', delim = ','))
      TO '${target}' (FORMAT parquet)`,
  );
  return target;
}
/** Starting a database takes longer than writing a bill. */
let writer: DuckDBConnection | undefined;
