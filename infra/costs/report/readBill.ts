import type { DuckDBInstance } from '@duckdb/node-api';
import type { buildTags } from '../../stages/resourceNames.ts';
import { type Column, rawColumns, readBillSql, toText } from './billFile.ts';

/** The steps from list prices to what was paid. Those of $0 are left out. */
export const stepNames = {
  list: "At AWS's list prices",
  otherPrices: 'Prices other than listed',
  unpriced: 'Without a known list price',
  notOurs: 'Not of this service',
  freeTier: 'Free tier',
  discounts: 'Discounts',
  commitments: 'Covered by Savings Plans',
  credits: 'Credits',
  corrections: 'Refunds and corrections',
  tax: 'Tax',
} as const;
export type Step = keyof typeof stepNames;

/** Lines of a bill that are alike, summed. Of which tag: the stage's, another, or none. */
export interface BilledRow {
  readonly month: string;
  readonly account: string;
  readonly region: string;
  readonly service: string;
  /** Such as `EUC1-ApiGatewayRequest`. */
  readonly usageType: string;
  /** Usage, or the step in the bridge that it is. */
  readonly category: 'usage' | Step;
  readonly tag: 'own' | 'other' | 'none';
  /** Covered by a Savings Plan, which another line pays. */
  readonly isCommitted: boolean;
  /** Billed with $0, as what a free allowance covers. */
  readonly isFree: boolean;
  readonly quantity: number;
  /** By AWS's own list, as far as the bill has that; otherwise before discounts. */
  readonly list: number;
  /** What was paid. */
  readonly net: number;
}

/** A day of the month with usage of the stage. */
export interface BilledDay {
  readonly day: string;
  /** Requests of the gateway, if the lines are of a day or less. */
  readonly requests: number;
  /** How often each line of the day is there. */
  readonly copies: number;
}

export interface Bill {
  readonly rows: readonly BilledRow[];
  readonly days: readonly BilledDay[];
  readonly isDaily: boolean;
  /** Calls of each function in each month, if the bill names resources. */
  readonly calls: readonly { month: string; operation: string; calls: number }[];
  readonly lines: number;
}

/**
 * Reads a bill with DuckDB, which sums its lines. Money is DECIMAL in all of it, by way of text, since Parquet has it
 * as DOUBLE. JavaScript gets the sums.
 * @param accounts whose lines are the stage's; default: all with its tags
 * @throws {Error} saying which line cannot be read
 */
export async function readBill(
  files: readonly string[],
  month: string,
  tags: Tags,
  accounts: readonly string[] = [],
): Promise<Bill> {
  database ??= openDatabase();
  const connection = await (await database).connect();
  async function query<Row>(sql: string): Promise<Row[]> {
    const result = await connection.runAndReadAll(sql);
    return result.getRowObjectsJson() as Row[];
  }
  try {
    await query("SET TimeZone = 'UTC'");
    await query(`CREATE TEMP TABLE raw (${rawColumns})`);
    const describe = (source: string) =>
      query<Column>(
        `SELECT column_name AS name, column_type AS type FROM (DESCRIBE FROM ${source})`,
      );
    for (const file of files) {
      const sql = await readBillSql(file, describe);
      await query(`INSERT INTO raw BY NAME ${sql}`).catch((error: Error) => {
        throw new Error(`${file} cannot be read: ${describeCause(error)}`);
      });
    }
    const [foreign] = await query<{ currency: string }>(
      "SELECT string_agg(DISTINCT currency, ' and ') AS currency FROM raw WHERE currency <> 'USD'",
    );
    if (foreign?.currency) {
      throw new Error(
        `The bill is in ${foreign.currency}, and list prices are in USD. Nothing is converted: give a bill in USD.`,
      );
    }
    await query(createLines(tags, accounts));
    return await readSums(query, month, tags.stage);
  } finally {
    connection.closeSync();
  }
}

/** Opening one takes as long as some queries. Each connection has its own temporary tables. */
let database: Promise<DuckDBInstance> | undefined;

async function openDatabase(): Promise<DuckDBInstance> {
  const { DuckDBInstance } = await import('@duckdb/node-api');
  // Nothing is fetched: what it reads is linked statically.
  return DuckDBInstance.create(':memory:', {
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  });
}

type Tags = ReturnType<typeof buildTags>;
type Query = <Row>(sql: string) => Promise<Row[]>;

/** What is wrong, and in which row: DuckDB adds its settings and advice. */
function describeCause({ message }: Error): string {
  const [, time] = /timestamp field (?:format|value)[^"]*"([^"]*)"/.exec(message) ?? [];
  if (time) return `it has "${time}" where a date such as 2026-11-01T00:00:00Z is needed.`;
  if (/NOT NULL/.test(message)) return 'it has a line without a time.';
  const [, number] = /[Cc]ould not convert string ["'](.*?)["'] to/.exec(message) ?? [];
  if (number) return `it has "${number}" where a number such as 12.5 is needed.`;
  const [, line] = /CSV Error on Line: (\d+)/.exec(message) ?? [];
  const [found] =
    /Expected Number of Columns:.*|.*unterminated quote.*|Maximum line size.*/.exec(message) ?? [];
  const cause = (found ?? message.split('\n')[0] ?? '').replace(/^.*Error: /, '');
  return line ? `row ${Number(line) - 1} is damaged (${cause.trim().replace(/\.$/, '')}).` : cause;
}

/**
 * A line's category decides its step in the bridge. Where a bill of CUR 2.0 has net costs, its lines of discounts are
 * in them already.
 * https://docs.aws.amazon.com/cur/latest/userguide/Lineitem-columns.html#Lineitem-details-L-LineItemType
 */
function createLines(tags: Tags, accounts: readonly string[]): string {
  const isOwnAccount =
    accounts.length > 0 ? `account IN (${accounts.map(toText).join(', ')})` : 'true';
  return `CREATE TEMP TABLE lines AS
    SELECT *,
      category = 'usage' AND quantity > 0 AND net = 0 AND NOT "isCommitted" AS "isFree"
    FROM (SELECT
      "from" AT TIME ZONE 'UTC' AS "from", "end" AT TIME ZONE 'UTC' AS "end",
      strftime("from", '%Y-%m') AS month, "end" - "from" <= INTERVAL 1 DAY AS "isDaily",
      coalesce(account, '') AS account, coalesce(region, '') AS region, coalesce(service, '') AS service,
      coalesce("usageType", '') AS "usageType", coalesce(resource, '') AS resource,
      CASE WHEN class = 'Correction' OR kind = 'Refund' THEN 'corrections'
        WHEN kind IN ('Usage', 'SavingsPlanCoveredUsage', 'DiscountedUsage') THEN 'usage'
        WHEN kind = 'SavingsPlanNegation' THEN 'commitments'
        WHEN kind LIKE '%Discount' THEN 'discounts'
        WHEN kind = 'Credit' THEN 'credits'
        WHEN kind = 'Tax' THEN 'tax' ELSE 'notOurs' END AS category,
      coalesce(kind IN ('SavingsPlanCoveredUsage', 'DiscountedUsage') OR commitment <> '', false) AS "isCommitted",
      CASE WHEN "stageTag" = ${toText(tags.stage)} AND coalesce("serviceTag", ${toText(tags.service)}) = ${toText(tags.service)} AND ${isOwnAccount} THEN 'own'
        WHEN "stageTag" IS NULL AND "serviceTag" IS NULL THEN 'none' ELSE 'other' END AS tag,
      coalesce(quantity, 0) AS quantity,
      coalesce(net, CASE WHEN kind LIKE '%Discount' AND file IN (SELECT file FROM raw WHERE net IS NOT NULL) THEN 0 END, gross, 0) AS net,
      coalesce(CASE WHEN list > 0 THEN list END, gross, 0) AS list
    FROM raw)`;
}

async function readSums(query: Query, month: string, stage: string): Promise<Bill> {
  const own = `tag = 'own' AND category = 'usage'`;
  const ofMonth = `${own} AND month = ${toText(month)}`;
  const [counted] = await query<{ isDaily: boolean | null; lines: number }>(
    `SELECT count(*)::INTEGER AS lines, bool_or("isDaily") FILTER (WHERE ${ofMonth}) AS "isDaily" FROM lines`,
  );
  const { lines = 0, isDaily } = counted ?? {};
  return {
    rows: await query(`
      SELECT month, account, region, service, "usageType", category, tag, "isCommitted", "isFree",
        sum(quantity) AS quantity, sum(list)::DOUBLE AS list, sum(net)::DOUBLE AS net
      FROM lines GROUP BY ALL ORDER BY ALL`),
    // In a bill by the day, a line of a whole month does not tell whether a day is missing.
    days: await query(`
      WITH own AS (
        SELECT "from", "end", account, region, service, "usageType", category, resource, quantity, net, "isDaily", count(*) AS copies
        FROM lines WHERE ${ofMonth} GROUP BY ALL),
      spread AS (
        SELECT *, unnest(generate_series(date_trunc('day', "from"), "end" - INTERVAL 1 MICROSECOND, INTERVAL 1 DAY)) AS day
        FROM own WHERE "isDaily" OR NOT ${isDaily ?? false})
      SELECT strftime(day, '%Y-%m-%d') AS day,
        coalesce(sum(quantity * copies) FILTER (WHERE "usageType" LIKE '%ApiGatewayRequest'), 0) AS requests,
        min(copies)::INTEGER AS copies
      FROM spread GROUP BY ALL ORDER BY day`),
    isDaily: isDaily ?? false,
    calls: await query(`
      SELECT month, regexp_extract(resource, ${toText(`:function:petstore-${stage}-(\\w+)`)}, 1) AS operation,
        sum(quantity) AS calls
      FROM lines WHERE ${own} AND "usageType" LIKE '%Request-ARM'
      GROUP BY ALL HAVING operation <> '' ORDER BY ALL`),
    lines,
  };
}
