import { createHash } from 'node:crypto';
import { createReadStream, openAsBlob, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';

type Query = (sql: string) => Promise<Record<string, unknown>[]>;

/**
 * The columns that bill.sql reads. A question mark: an export may leave it out.
 * https://docs.aws.amazon.com/cur/latest/userguide/table-dictionary-cur2.html
 * https://docs.aws.amazon.com/cur/latest/userguide/table-dictionary-focus-1-2-aws-columns.html
 */
const formats = {
  cur: `line_item_usage_account_id bill_payer_account_id? product_region_code? line_item_product_code
    line_item_usage_type line_item_line_item_type line_item_resource_id? identity_line_item_id?
    bill_billing_period_start_date? line_item_usage_start_date line_item_usage_end_date
    line_item_usage_amount? line_item_unblended_cost line_item_net_unblended_cost? pricing_public_on_demand_cost?
    savings_plan_savings_plan_effective_cost? reservation_effective_cost? line_item_currency_code`,
  focus: `SubAccountId BillingAccountId? RegionId? ServiceName x_ServiceCode? x_UsageType? SkuMeter? SkuPriceId?
    ChargeCategory ChargeClass? CommitmentDiscountId? ResourceId? BillingPeriodStart? ChargePeriodStart
    ChargePeriodEnd ConsumedQuantity? BilledCost EffectiveCost? ListCost? BillingCurrency`,
};
type Format = keyof typeof formats;
const listColumns = (format: Format) =>
  `${formats[format]} tags`.split(/\s+/).map((text) => {
    return { name: text.replace('?', ''), isOptional: text.endsWith('?') };
  });

const remedy =
  'Export "CUR 2.0" or "FOCUS 1.2 with AWS columns", in Billing and Cost Management under Data Exports, as CSV or Parquet, and give its files as they are.';

/** A file of a bill. */
export interface BillFile {
  readonly file: string;
  readonly format: Format;
  /** As SQL that reads it. */
  readonly source: string;
  /** What to select from it: the columns of its format, as text, NULL where empty. It may lack optional ones. */
  readonly select: string;
  /** As numbered by a spreadsheet. */
  readonly firstRow: number;
  /** Whether its last value may lack its end. */
  readonly isCut: boolean;
}

/** What a folder has beside the data of an export, such as its manifests. */
const noData = /^[._]|\.(json|ya?ml|sql|html?|txt|md|pdf)$/i;

/**
 * The files of a bill, each once. A folder stands for all its data files.
 * @throws {Error} when there is none
 */
export async function findFiles(paths: readonly string[]) {
  const files = paths.flatMap((path) => {
    if (!statSync(path).isDirectory()) return [path];
    const found = readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory() && !noData.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name));
    if (found.length === 0) throw new Error(`${path}: the folder has no data file. ${remedy}`);
    const link = found.find((file) => statSync(file).isDirectory());
    if (link) throw new Error(`${link} is a link to a folder. Give that folder itself.`);
    return found.sort();
  });
  const known = new Map<string, string>();
  const copies: string[] = [];
  for (const file of files) {
    const hash = createHash('sha256');
    await pipeline(createReadStream(file), hash);
    const key = hash.digest('hex');
    const first = known.get(key);
    if (first) copies.push(`${file} has the same bytes as ${first}, and is counted once.`);
    else known.set(key, file);
  }
  return { files: [...known.values()], copies };
}

/** @throws {Error} saying what the file is, if it is no bill, and what to export instead */
export async function openBill(file: string, query: Query): Promise<BillFile> {
  const { head, last, isGzip } = await readEnds(file);
  const isParquet = head.startsWith('PAR1');
  const [firstLine = ''] = head.split(/\r?\n/, 1);
  const refuse = (found: string) => new Error(`${file} ${found}. ${remedy}`);
  if (head === '') throw refuse('is empty');
  if (isParquet && isGzip) throw refuse('is Parquet within gzip: unpack it');
  const foreign = Object.entries(foreignFiles).find(([, pattern]) => pattern.test(firstLine));
  if (foreign && !isParquet) throw refuse(`is ${foreign[0]}`);
  // DuckDB takes these for patterns.
  const name = toText(file.replace(/[[*?]/g, '[$&]'));
  const source = isParquet
    ? `read_parquet(${name}, hive_partitioning = false)`
    : `read_csv(${name}, auto_detect = false, hive_partitioning = false, header = true, delim = ',', quote = '"', escape = '"', comment = '', columns = ${toStruct(firstLine)}, compression = '${isGzip ? 'gzip' : 'none'}')`;
  const columns = await query(
    `SELECT column_name AS name, column_type AS type FROM (DESCRIBE FROM ${source})`,
  ).catch((error: Error) => {
    throw refuse(`is damaged, or no bill (${error.message.split('\n')[0]})`);
  });
  const names = columns.map((column) => `${column.name}`.toLowerCase());
  const has = (wanted: string) => names.includes(wanted.toLowerCase());
  const format = has('BilledCost') ? 'focus' : 'cur';
  if (format === 'cur' && !has('line_item_unblended_cost')) {
    const begin = columns.slice(0, 3).map((column) => column.name);
    throw refuse(`is no bill that is known here: its columns begin with ${begin.join(', ')}`);
  }
  if (format === 'focus' && !has('x_UsageType') && !has('SkuMeter')) {
    throw refuse('has neither x_UsageType nor SkuMeter');
  }
  const wanted = listColumns(format).filter(({ name }) => name !== 'tags');
  const missing = wanted.find(({ name, isOptional }) => !isOptional && !has(name));
  if (missing) throw refuse(`has no column ${missing.name}`);
  const tags = columns.flatMap((column) => toTags(`${column.name}`, `${column.type}`));
  if (tags.length === 0) throw refuse('has no column of tags, such as resource_tags or Tags');
  const list = wanted.map((column) => toText(column.name.toLowerCase()));
  const select = `nullif(CAST(COLUMNS(name -> lower(name) IN (${list.join()})) AS VARCHAR), ''), '[' || concat_ws(', ', ${tags.join()}) || ']' AS tags`;
  // A value in quotes is whole.
  const isCut = !isParquet && !/["\n]/.test(last);
  return { file, format, source, select, firstRow: isParquet ? 1 : 2, isCut };
}

/** Files that are no bill, by their first line. The columns of others say what they are. */
const foreignFiles: Readonly<Record<string, RegExp>> = {
  'not text in UTF-8, such as an Excel workbook, a ZIP archive or UTF-16': /^PK|\0|\ufffd/,
  'a legacy Cost and Usage Report, with columns such as lineItem/UnblendedCost':
    /\b(lineItem|bill|identity)\//,
  'a CSV of Cost Explorer, which has sums without tags': /\((\$|USD)\)|Total costs/i,
  'a CSV of the Billing console or a cost allocation report, without a time for each line':
    /\bRecordType\b|\bLinkedAccountId\b|Amount in USD/i,
  'text whose first line is empty': /^[ \t]*$/,
  'text with a carriage return alone as line end': /\r/,
  'separated by semicolons or tabs, as a spreadsheet saves it': /^[^,]*[;\t][^,]*[;\t]/,
};

/**
 * The first bytes and the last one, decompressed. Reads gzip to its end, since DuckDB takes a truncated file for a whole
 * one.
 */
async function readEnds(file: string) {
  const bytes = await openAsBlob(file);
  // Without a byte order mark.
  const toHead = (all: Blob) => all.slice(0, MAX_HEAD_BYTES).text();
  const [first, second] = await bytes.slice(0, 2).bytes();
  if (first !== 0x1f || second !== 0x8b) {
    return { head: await toHead(bytes), last: await bytes.slice(-1).text(), isGzip: false };
  }
  const chunks: Buffer[] = [];
  let last = '';
  await pipeline(createReadStream(file), createGunzip(), async (all) => {
    let length = 0;
    for await (const chunk of all) {
      if (length < MAX_HEAD_BYTES) chunks.push(chunk);
      length += chunk.length;
      last = chunk.toString('latin1', chunk.length - 1);
    }
  }).catch(({ message }: Error) => {
    throw new Error(`${file} is damaged, or not whole (${message}). Download it again.`);
  });
  return { head: await toHead(new Blob(chunks as Buffer<ArrayBuffer>[])), last, isGzip: true };
}
const MAX_HEAD_BYTES = 65_536;

/** The columns of a CSV. With its own detection, DuckDB skips rows, and its errors do not name the line. */
function toStruct(firstLine: string): string {
  const names = [...firstLine.matchAll(/(?:^|,)("(?:[^"]|"")*"|[^,]*)/g)].map(([, name = '']) =>
    name.replace(/^"|"$/g, '').replaceAll('""', '"'),
  );
  const known = names.map((name) => name.toLowerCase());
  const columns = names.map((name, index) => {
    const isFirst = known.indexOf(name.toLowerCase()) === index;
    return `${toText(isFirst ? name : `${name}_${index}`)}: 'VARCHAR'`;
  });
  return `{${columns.join(', ')}}`;
}

/** The tags of a column as JSON: a map of all tags, or one tag. Other columns have none. */
function toTags(name: string, type: string): string[] {
  const column = `"${name.replaceAll('"', '""')}"`;
  if (/^(resource_)?tags$/i.test(name)) {
    if (type === 'VARCHAR') return [`nullif(${column}, '')`];
    return [`to_json(${type.endsWith('[]') ? `map_from_entries(${column})` : column})`];
  }
  const isTag = /^resource_?tags[/_.]|^(user[:_])?(service|stage)$/i.test(name);
  return isTag ? [`json_object(${toText(name)}, ${column})`] : [];
}

/** The view of a format, of all its files. */
export function toView(format: Format, files: readonly BillFile[]): string {
  const own = files.filter((one) => one.format === format);
  const selects = own.map(
    ({ file, select, source }) => `SELECT ${toText(file)} AS file, ${select} FROM ${source}`,
  );
  const names = listColumns(format).map(({ name }) => `NULL::VARCHAR AS ${name}`);
  const columns = `SELECT NULL::VARCHAR AS file, ${names.join()} WHERE false`;
  return `CREATE VIEW ${format} AS ${[columns, ...selects].join(' UNION ALL BY NAME ')}`;
}

/** Such as `CSV Error on Line: 3`, the line, and `Expected Number of Columns: 19 Found: 2`. */
const csvError =
  /CSV Error on Line: (\d+).*?^((?:Expected|Value with|Maximum line|Invalid unicode).*?)$/ms;
const asExported = 'is needed: give the file as AWS exports it, not as a spreadsheet saves it.';
/**
 * The first row with a value that cannot be read, or with another currency.
 * @returns a sentence, or `undefined` if there is none
 */
export async function findWrongRow(bill: BillFile, query: Query): Promise<string | undefined> {
  const { file, format, source, select, firstRow } = bill;
  const required = listColumns(format).filter(({ isOptional }) => !isOptional);
  const names = required.map(({ name }) => toText(name.toLowerCase()));
  const [wrong] = await query(
    `SELECT row, name || ' is ' || coalesce('"' || value || '"', 'empty') || '. ' || CASE
      WHEN value IS NULL AND lower(name) NOT IN (${names.join()}) THEN NULL
      WHEN regexp_matches(name, 'line_item_type|ChargeCategory', 'i') AND value IS NULL
        THEN 'A charge such as Usage or Tax ${asExported}'
      WHEN regexp_matches(name, 'cost|amount|quantity', 'i')
        AND TRY_CAST(replace(value, '_', '?') AS DECIMAL(38, 15)) IS NULL
        THEN 'A number such as 1234.50 ${asExported}'
      WHEN regexp_matches(name, '_date|Period', 'i') AND TRY_CAST(value AS TIMESTAMPTZ) IS NULL
        THEN 'A time such as 2026-10-01T00:00:00Z ${asExported}'
      WHEN name = 'tags' AND NOT json_valid(value)
        THEN 'JSON such as {"user_stage":"production"} ${asExported}'
      WHEN regexp_matches(name, 'currency', 'i') AND upper(value) IS DISTINCT FROM 'USD'
        THEN 'AWS''s prices are in USD, and nothing is converted: give a bill in USD.' END AS text
    FROM (SELECT row, ${select} FROM (SELECT *, row_number() OVER () + ${firstRow - 1} AS row FROM ${source}))
    UNPIVOT INCLUDE NULLS (value FOR name IN (COLUMNS(* EXCLUDE row)))
    WHERE text IS NOT NULL ORDER BY row, name LIMIT 1`,
  ).catch(({ message }: Error) => {
    const [, row, cause = message.split('\n')[0]] = csvError.exec(message) ?? [];
    const what = row ? 'line' : 'file';
    const text = `the ${what} is damaged (${cause}). Download it again, or export the bill again.`;
    return [{ row, text }];
  });
  return wrong && `${file}${wrong.row ? `, row ${wrong.row}` : ''}: ${wrong.text}`;
}

export const toText = (text: string) => `'${text.replaceAll("'", "''")}'`;
