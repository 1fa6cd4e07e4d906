import { createHash } from 'node:crypto';
import { createReadStream, existsSync, openAsBlob, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
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
const listColumns = (format: keyof typeof formats) =>
  formats[format].split(/\s+/).map((text) => {
    return { name: text.replace('?', ''), isOptional: text.endsWith('?') };
  });

const remedy =
  'Export "CUR 2.0" or "FOCUS 1.2 with AWS columns", in Billing and Cost Management under Data Exports, as CSV or Parquet, and give its files as they are.';

/** A file of a bill, as SQL that reads it. */
export interface BillFile {
  readonly file: string;
  readonly format: keyof typeof formats;
  /** Its rows, and its values by the columns' names: text, NULL where empty. */
  readonly source: string;
  readonly values: Readonly<Record<string, string>>;
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
    if (!existsSync(path)) throw new Error(`${path}: there is no such file.`);
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
    if (first === undefined) known.set(key, file);
    else {
      const isSame = resolve(file) === resolve(first);
      const what = isSame ? 'is given twice' : `has the same bytes as ${first}`;
      copies.push(`${file} ${what}, and is counted once.`);
    }
  }
  return { files: [...known.values()], copies };
}

/** @throws {Error} saying what the file is, if it is no bill, and what to export instead */
export async function openBill(file: string, query: Query): Promise<BillFile> {
  const { head, last, isGzip } = await readEnds(file);
  const text = head.toString('utf8').replace(/^\ufeff/, '');
  const isParquet = text.startsWith('PAR1');
  const refuse = (found: string) => new Error(`${file} ${found}. ${remedy}`);
  if (head.length === 0) throw refuse('is empty');
  if (isParquet && isGzip) throw refuse('is Parquet within gzip: unpack it');
  const foreign = isParquet ? undefined : foreignFiles.find(([, pattern]) => pattern.test(text));
  if (foreign) throw refuse(`is ${foreign[0]}`);
  // DuckDB takes these for patterns.
  const name = toText(file.replace(/[[*?]/g, '[$&]'));
  const source = isParquet
    ? `read_parquet(${name}, hive_partitioning = false)`
    : `read_csv(${name}, auto_detect = false, hive_partitioning = false, header = true, delim = ',', quote = '"', escape = '"', comment = '', columns = ${toStruct(text)}, compression = '${isGzip ? 'gzip' : 'none'}')`;
  const described = await query(
    `SELECT column_name AS name, column_type AS type FROM (DESCRIBE FROM ${source})`,
  ).catch((error: Error) => {
    throw refuse(`is damaged, or no bill (${error.message.split('\n')[0]})`);
  });
  const columns = described.map(({ name, type }) => ({ name: `${name}`, type: `${type}` }));
  const find = (wanted: string) =>
    columns.find((column) => column.name.toLowerCase() === wanted.toLowerCase());
  const format = find('BilledCost') ? 'focus' : 'cur';
  if (format === 'cur' && !find('line_item_unblended_cost')) {
    const names = columns.slice(0, 3).map((column) => column.name);
    throw refuse(`is no bill that is known here: its columns begin with ${names.join(', ')}`);
  }
  if (format === 'focus' && !find('x_UsageType') && !find('SkuMeter')) {
    throw refuse('has neither x_UsageType nor SkuMeter');
  }
  const values = listColumns(format).map(({ name: wanted, isOptional }) => {
    const column = find(wanted);
    if (!column && !isOptional) throw refuse(`has no column ${wanted}`);
    return [wanted, column ? toValue(column) : 'NULL'];
  });
  const tags = toTags(columns);
  if (tags === undefined) throw refuse('has no column of tags, such as resource_tags or Tags');
  const map = columns.find(({ name, type }) => isTagMap.test(name) && type === 'VARCHAR');
  const tagText = map ? toValue(map) : 'NULL';
  const all = { ...Object.fromEntries(values), tags, tagText };
  // A value in quotes is whole.
  const isCut = !isParquet && !/["\n]/.test(last);
  return { file, format, source, values: all, firstRow: isParquet ? 1 : 2, isCut };
}

/** Files that are no bill, by their first bytes. The columns of others say what they are. */
const foreignFiles: readonly (readonly [found: string, pattern: RegExp])[] = [
  [
    'not text in UTF-8, such as an Excel workbook, a ZIP archive or UTF-16',
    /^PK|^[^\n]*(\0|\ufffd)/,
  ],
  [
    'a legacy Cost and Usage Report, with columns such as lineItem/UnblendedCost',
    /^[^\n]*\b(lineItem|bill|identity)\//,
  ],
  ['a CSV of Cost Explorer, which has sums without tags', /^[^\n]*(\((\$|USD)\)|Total costs)/i],
  [
    'a CSV of the Billing console or a cost allocation report, without a time for each line',
    /^[^\n]*(\bRecordType\b|\bLinkedAccountId\b|Amount in USD)/i,
  ],
  ['text whose first line is empty', /^[ \t]*[\r\n]/],
  ['text with a carriage return alone as line end', /^[^\n]*\r(?!\n)/],
  ['separated by semicolons or tabs, as a spreadsheet saves it', /^[^\n,]*[;\t][^\n,]*[;\t]/],
];

/**
 * The first bytes and the last one, decompressed. Reads gzip to its end, since DuckDB takes a truncated file for a whole
 * one.
 */
async function readEnds(file: string) {
  const bytes = await openAsBlob(file);
  const head = Buffer.from(await bytes.slice(0, MAX_HEAD_BYTES).arrayBuffer());
  if (head[0] !== 0x1f || head[1] !== 0x8b) {
    return { head, last: await bytes.slice(-1).text(), isGzip: false };
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
  return { head: Buffer.concat(chunks), last, isGzip: true };
}
const MAX_HEAD_BYTES = 65_536;

/** The columns of a CSV, by its first line: without its own detection, DuckDB skips no row, and its errors name the line. */
function toStruct(text: string): string {
  const [line = ''] = text.split(/\r?\n/, 1);
  const names = [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
    ([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain,
  );
  const known = names.map((name) => name.toLowerCase());
  const columns = names.map((name, index) => {
    const isFirst = known.indexOf(name.toLowerCase()) === index;
    return `${toText(isFirst ? name : `${name}_${index}`)}: 'VARCHAR'`;
  });
  return `{${columns.join(', ')}}`;
}

interface Column {
  readonly name: string;
  readonly type: string;
}

const toValue = ({ name }: Column) => `nullif(CAST(${toName(name)} AS VARCHAR), '')`;

const isTagMap = /^(resource_)?tags$/i;

/** The tags as JSON, of a map or of a column for each. */
function toTags(columns: readonly Column[]): string | undefined {
  const maps = columns
    .filter(({ name }) => isTagMap.test(name))
    .map((map) => {
      if (map.type === 'VARCHAR') return `CAST(${toValue(map)} AS JSON)`;
      const entries = map.type.endsWith('[]')
        ? `map_from_entries(${toName(map.name)})`
        : toName(map.name);
      return `to_json(${entries})`;
    });
  const single = columns
    .filter(({ name }) => /^resource_?tags[/_.]|^(user[:_])?(service|stage)$/i.test(name))
    .map((tag) => `${toText(tag.name.replace(/^resource_?tags[/_.]/i, ''))}, ${toValue(tag)}`);
  const all = [...maps, ...(single.length > 0 ? [`json_object(${single.join(', ')})`] : [])];
  if (all.length === 0) return undefined;
  return `CAST(${all.reduce((one, other) => `json_merge_patch(coalesce(${one}, '{}'), coalesce(${other}, '{}'))`)} AS VARCHAR)`;
}

/** The view of a format, of all its files. */
export function toView(format: keyof typeof formats, files: readonly BillFile[]): string {
  const own = files.filter((one) => one.format === format);
  const selects = own.map(({ file, source, values }) => {
    const listed = Object.entries(values).map(([name, value]) => `${value} AS ${toName(name)}`);
    return `SELECT ${toText(file)} AS file, ${listed.join(', ')} FROM ${source}`;
  });
  const names = ['file', ...listColumns(format).map(({ name }) => name), 'tags', 'tagText'];
  // For a format of which there is no file.
  const none = `SELECT ${names.map((name) => `NULL::VARCHAR AS ${toName(name)}`).join(', ')} WHERE false`;
  return `CREATE VIEW ${format} AS ${[none, ...selects].join(' UNION ALL ')}`;
}

const asExported = 'is needed: give the file as AWS exports it, not as a spreadsheet saves it.';
/** What columns of such names hold, by its type in DuckDB, with what would be right. */
const readings = [
  [/line_item_type|ChargeCategory/, 'VARCHAR', `A charge such as Usage or Tax ${asExported}`],
  [/cost|amount|quantity/i, 'DECIMAL(38, 15)', `A number such as 1234.50 ${asExported}`],
  [/_date|Period/, 'TIMESTAMPTZ', `A time such as 2026-10-01T00:00:00Z ${asExported}`],
] as const;

/**
 * The first row with a value that cannot be read, or with another currency.
 * @returns a sentence, or `undefined` if there is none
 */
export async function findWrongRow(bill: BillFile, query: Query): Promise<string | undefined> {
  const { file, format, source, values, firstRow } = bill;
  const columns = listColumns(format).flatMap(({ name, isOptional }) => {
    const value = values[name] ?? 'NULL';
    const found = `${toText(`${name} is `)} || coalesce('"' || ${value} || '"', 'empty')`;
    const isMissing = isOptional ? 'false' : `${value} IS NULL`;
    return readings.flatMap(([pattern, type, right]) => {
      const isWrong = `${isMissing} OR ${value} IS NOT NULL AND TRY_CAST(replace(${value}, '_', '?') AS ${type}) IS NULL`;
      return pattern.test(name) ? [{ found, isWrong, right }] : [];
    });
  });
  const currency = values[format === 'cur' ? 'line_item_currency_code' : 'BillingCurrency'];
  const checks = [
    ...columns,
    {
      found: "'the tags are no JSON'",
      // DuckDB's TRY crashes on JSON.
      isWrong: `NOT json_valid(coalesce(${values.tagText}, '{}'))`,
      right: `JSON such as {"user_stage":"production"} ${asExported}`,
    },
    {
      found: `'the currency is ' || coalesce(${currency}, 'empty')`,
      isWrong: `upper(${currency}) IS DISTINCT FROM 'USD'`,
      right: "AWS's prices are in USD, and nothing is converted: give a bill in USD.",
    },
  ];
  const cases = checks.map(
    ({ found, isWrong, right }) => `WHEN ${isWrong} THEN ${found} || '. ' || ${toText(right)}`,
  );
  const [wrong] = await query(
    `SELECT row, CASE ${cases.join(' ')} END AS text
    FROM (SELECT *, row_number() OVER () + ${firstRow - 1} AS row FROM ${source})
    WHERE text IS NOT NULL ORDER BY row LIMIT 1`,
  ).catch(({ message }: Error) => {
    const [, row] = /CSV Error on Line: (\d+)/.exec(message) ?? [];
    const [cause = message.split('\n')[0]] =
      /Expected Number of Columns:.*|.*unterminated quote.*|Maximum line size.*|Invalid unicode.*/.exec(
        message,
      ) ?? [];
    const what = row ? 'line' : 'file';
    const text = `the ${what} is damaged (${cause}). Download it again, or export the bill again.`;
    return [{ row, text }];
  });
  return wrong && `${file}${wrong.row ? `, row ${wrong.row}` : ''}: ${wrong.text}`;
}

export const toText = (text: string) => `'${text.replaceAll("'", "''")}'`;
const toName = (name: string) => `"${name.replaceAll('"', '""')}"`;
