import { gzipSync } from 'node:zlib';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';

/** A line of a bill, whatever its format. Costs are before private discounts; `discount` is a share. */
export interface Line {
  readonly kind: string;
  readonly service: string;
  readonly usageType: string;
  readonly region: string;
  readonly account: string;
  readonly quantity: number;
  readonly cost: number;
  readonly discount?: number;
  /** Of a Savings Plan's fee, what AWS gives to this line. */
  readonly effective?: number;
  readonly from: string;
  readonly to: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly resource?: string;
  readonly currency?: string;
}

export const account = '123456789012';
export const ourTags = { service: 'petstore', stage: 'production' };

/** What production uses in a day of these bills, at AWS's prices of us-east-1. */
const uses = [
  ['AmazonApiGateway', 'USE1-ApiGatewayRequest', 160_000, 3.5e-6],
  ['AWSLambda', 'Request-ARM', 160_000, 2e-7],
  ['AWSLambda', 'Lambda-GB-Second-ARM', 40_000, 1.33334e-5],
  ['AmazonDynamoDB', 'ReadRequestUnits', 200_000, 1.25e-7],
  ['AmazonDynamoDB', 'WriteRequestUnits', 150_000, 6.25e-7],
  ['AmazonDynamoDB', 'TimedStorage-ByteHrs', 0.01, 0.25],
  ['AmazonApiGateway', 'USE1-DataTransfer-Out-Bytes', 1, 0.09],
  ['AmazonCloudWatch', 'USE1-VendedLog-Bytes', 0.2, 0.5],
  ['AmazonCloudWatch', 'USE1-CW:AlarmMonitorUsage', 4, 0.1],
] as const;
/** By hand: 0.56 + 0.032 + 0.533336 + 0.025 + 0.09375 + 0.0025 + 0.09 + 0.1 + 0.4 */
export const DAY = 1.836586;
export const READS_AND_WRITES = 0.11875;
export const GB_SECONDS = 0.533336;

/** Such as `2026-10-01T00:00:00.000Z`; the 32nd is the next month's 1st. */
export const toTime = (day: number, hour = 0, month = 10) =>
  new Date(Date.UTC(2026, month - 1, day, hour)).toISOString();

/** October 2026, or another month, by the day. */
export function makeMonth(month = 10): Line[] {
  const length = new Date(Date.UTC(2026, month, 0)).getUTCDate();
  return Array.from({ length }, (_, index) => index + 1).flatMap((day) =>
    uses.map(
      ([service, usageType, quantity, price]): Line => ({
        ...{ kind: 'Usage', service, usageType, region: 'us-east-1', account, quantity },
        ...{ cost: quantity * price, tags: ourTags },
        ...{ from: toTime(day, 0, month), to: toTime(day + 1, 0, month) },
      }),
    ),
  );
}

export const times = (line: Line, factor: number): Line => ({
  ...{ ...line, quantity: line.quantity * factor, cost: line.cost * factor },
});
export const dayOf = ({ from }: Line) => Number(from.slice(8, 10));
/** A charge for all of October that no tags give to anybody. */
export const toCharge = (line: Partial<Line>): Line => ({
  ...{ kind: 'Usage', service: 'AWSLambda', usageType: '', region: '', account },
  ...{ quantity: 0, cost: 0, from: toTime(1), to: toTime(32), tags: {}, ...line },
});
/** One line for the month in place of one for each day. */
export const sumByMonth = (lines: readonly Line[]) =>
  [...Map.groupBy(lines, ({ usageType }) => usageType).values()].flatMap(([first, ...others]) =>
    first ? [{ ...times(first, others.length + 1), to: toTime(32) }] : [],
  );

/** Two months with all that a page can show: doubts, two regions, discounts, credits, tax, and an unusual day. */
export const shownLines: readonly Line[] = [
  ...makeMonth(9),
  ...makeMonth().flatMap((line): Line[] => {
    if (dayOf(line) === 13) return [];
    const factor = 1 + 0.1 * Math.sin(dayOf(line));
    const isTrebled = line.usageType.includes('GB-Second') && dayOf(line) >= 20;
    const own = { ...times(line, isTrebled ? 3 : factor), discount: 0.09 };
    return [own, { ...times(own, 0.2), region: 'eu-west-1', account: '210987654321' }];
  }),
  toCharge({ kind: 'Tax', tags: ourTags, cost: 8.1 }),
  toCharge({ kind: 'Tax', account: '999999999999', cost: 12 }),
  toCharge({ kind: 'Credit', cost: -5 }),
  toCharge({ usageType: 'Request-ARM', cost: 3, tags: { app: 'petstore <b>"&amp;' } }),
];

/** The names and values of the columns, with some that are not read, as AWS exports them. */
const toCur = (line: Line): Record<string, unknown> => ({
  identity_line_item_id: `${line.usageType}${line.from}${line.account}`,
  bill_payer_account_id: '999999999999',
  bill_billing_period_start_date: line.from.replace(/-..T.*/, '-01T00:00:00.000Z'),
  line_item_usage_account_id: line.account,
  line_item_line_item_type: line.kind,
  line_item_usage_start_date: line.from,
  line_item_usage_end_date: line.to,
  line_item_product_code: line.service,
  line_item_usage_type: line.usageType,
  line_item_line_item_description: 'A "line", with a comma\nand a second line',
  line_item_usage_amount: line.quantity,
  line_item_currency_code: line.currency ?? 'USD',
  line_item_unblended_cost: line.cost,
  line_item_net_unblended_cost: line.discount ? line.cost * (1 - line.discount) : '',
  pricing_public_on_demand_cost: line.cost,
  savings_plan_savings_plan_effective_cost: line.effective ?? '',
  product_region_code: line.region,
  line_item_resource_id: line.resource ?? '',
  resource_tags: Object.fromEntries(
    Object.entries(line.tags).map(([name, value]) => [`user_${name}`, value]),
  ),
});

/** In FOCUS, costs are after discounts, and what a plan covers costs $0. */
const toFocus = (line: Line, version: '1.0' | '1.2'): Record<string, unknown> => {
  const isCovered = line.kind === 'SavingsPlanCoveredUsage';
  const cost = line.cost * (1 - (line.discount ?? 0));
  return {
    BilledCost: isCovered ? 0 : cost,
    BillingAccountId: '999999999999',
    BillingCurrency: line.currency ?? 'USD',
    ChargeCategory: categories[line.kind] ?? line.kind,
    ChargeClass: line.kind === 'Refund' ? 'Correction' : '',
    ChargePeriodStart: line.from,
    ChargePeriodEnd: line.to,
    CommitmentDiscountId: isCovered ? 'arn:aws:savingsplans::1:savingsplan/1' : '',
    ConsumedQuantity: line.quantity,
    EffectiveCost: line.effective ?? cost,
    ListCost: line.cost,
    RegionId: line.region,
    ResourceId: line.resource ?? '',
    ServiceName: focusNames[line.service] ?? line.service,
    SubAccountId: line.account,
    Tags: line.tags,
    ...(version === '1.0' ? { x_UsageType: line.usageType } : { SkuMeter: line.usageType }),
  };
};
const categories: Readonly<Record<string, string>> = {
  ...{ SavingsPlanCoveredUsage: 'Usage', SavingsPlanRecurringFee: 'Purchase', Refund: 'Usage' },
};
const focusNames: Readonly<Record<string, string>> = {
  AmazonApiGateway: 'Amazon API Gateway',
  AWSLambda: 'AWS Lambda',
  AmazonDynamoDB: 'Amazon DynamoDB',
};

const toRows = (format: 'cur' | 'focus', lines: readonly Line[], version: '1.0' | '1.2') =>
  format === 'cur'
    ? lines.map(toCur)
    : lines
        .filter(({ kind }) => kind !== 'SavingsPlanNegation')
        .map((line) => toFocus(line, version));

export function toCsv(rows: readonly Record<string, unknown>[]): string {
  const toCell = (cell: unknown) => {
    const text = typeof cell === 'object' ? JSON.stringify(cell) : String(cell);
    return `"${text.replaceAll('"', '""')}"`;
  };
  const columns = Object.keys(rows[0] ?? {});
  return [columns, ...rows.map((row) => columns.map((name) => row[name]))]
    .map((row) => row.map(toCell).join(','))
    .join('\r\n');
}

export const toCurCsv = (lines: readonly Line[]) => toCsv(toRows('cur', lines, '1.2'));
export const toFocusCsv = (lines: readonly Line[]) => toCsv(toRows('focus', lines, '1.0'));
export const toFocusGzip = (lines: readonly Line[]) => gzipSync(toFocusCsv(lines));

/**
 * Writes a bill as AWS does: numbers as DOUBLE, tags as a map.
 * @param timeType AWS has times as TIMESTAMP
 */
export async function writeParquet(
  target: string,
  format: 'cur' | 'focus',
  lines: readonly Line[],
  timeType: 'TIMESTAMP' | 'TIMESTAMPTZ' = 'TIMESTAMP',
): Promise<string> {
  const rows = toRows(format, lines, '1.2');
  const names = Object.keys(rows[0] ?? {});
  const columns = names.map((name) => {
    if (/cost|amount|quantity/i.test(name)) return `${name}::DOUBLE AS ${name}`;
    if (/_date|Period/.test(name)) return `${name}::${timeType} AS ${name}`;
    return /tags/i.test(name) ? `from_json(${name}, '"MAP(VARCHAR, VARCHAR)"') AS ${name}` : name;
  });
  const text = JSON.stringify(rows, (_, value) => (value === '' ? null : value));
  const shape = JSON.stringify([Object.fromEntries(names.map((name) => [name, 'VARCHAR']))]);
  writer ??= await (await DuckDBInstance.create(':memory:')).connect();
  await writer.run(
    `COPY (SELECT ${columns.join()} FROM (SELECT unnest(from_json($1, '${shape}'), max_depth := 2)))
    TO '${target}' (FORMAT parquet)`,
    [text],
  );
  return target;
}
/** Starting a database takes longer than writing a bill. */
let writer: DuckDBConnection | undefined;
