import { createReadStream, existsSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { parse } from 'csv-parse/sync';

const money = 'DECIMAL(38,15)';
/**
 * The columns that are read: the type, and the names in CUR 2.0 and FOCUS. A question mark: the column may be missing. In
 * FOCUS 1.2, the usage type is the SKU's meter. Parquet has money as DOUBLE, which 15 places make exact.
 * https://docs.aws.amazon.com/cur/latest/userguide/table-dictionary-cur2.html
 * https://docs.aws.amazon.com/cur/latest/userguide/table-dictionary-focus-1-0-aws-columns.html
 * https://docs.aws.amazon.com/cur/latest/userguide/table-dictionary-focus-1-2-aws-columns.html
 */
const fields = {
  account: ['VARCHAR', 'line_item_usage_account_id', 'subaccountid'],
  region: ['VARCHAR', 'product_region_code', 'regionid'],
  service: ['VARCHAR', 'line_item_product_code', 'servicename'],
  usageType: ['VARCHAR', 'line_item_usage_type', 'x_usagetype or skumeter'],
  kind: ['VARCHAR', 'line_item_line_item_type', 'chargecategory'],
  quantity: ['DOUBLE', 'line_item_usage_amount', 'consumedquantity'],
  gross: [money, 'line_item_unblended_cost', 'billedcost'],
  net: [money, 'line_item_net_unblended_cost?', '?'],
  list: [money, 'pricing_public_on_demand_cost?', 'listcost'],
  currency: ['VARCHAR', 'line_item_currency_code', 'billingcurrency'],
  from: ['TIMESTAMPTZ NOT NULL', 'line_item_usage_start_date', 'chargeperiodstart'],
  end: ['TIMESTAMPTZ NOT NULL', 'line_item_usage_end_date', 'chargeperiodend'],
  resource: ['VARCHAR', 'line_item_resource_id?', 'resourceid?'],
  commitment: ['VARCHAR', '?', 'commitmentdiscountid?'],
  class: ['VARCHAR', '?', 'chargeclass?'],
} as const;

/** Lines of bills as they are, each with the file that it is from, and its tags `stage` and `service`. */
export const rawColumns = [
  'file VARCHAR, "stageTag" VARCHAR, "serviceTag" VARCHAR',
  ...Object.entries(fields).map(([name, [type]]) => `"${name}" ${type}`),
].join(', ');

/** A column's name and type. */
export interface Column {
  readonly name: string;
  readonly type: string;
}

/** A map of tags, or one tag that was exported as a column of its own. */
const tagMaps = ['resource_tags', 'tags'];
const toTagColumn = (tag: string) => new RegExp(`^(resource_?tags[/_.])?(user[:_])?${tag}$`, 'i');

const needed =
  'Give a CUR 2.0 or FOCUS export of AWS Data Exports as it is, as CSV, .csv.gz or Parquet.';

/** The SQL that reads a bill. @throws {Error} saying what the file is, if it is no bill */
export async function readBillSql(
  file: string,
  describe: (source: string) => Promise<Column[]>,
): Promise<string> {
  if (!existsSync(file)) throw new Error(`${file} cannot be read: there is no such file.`);
  const head = await readHead(file);
  const begin = head.toString('latin1');
  const refuse = (found: string) => new Error(`${file} is ${found}. ${needed}`);
  if (begin.startsWith('PK')) throw refuse('an Excel workbook or another ZIP archive');
  if (head.length === 0) throw refuse('empty');
  const name = toText(file);
  if (begin.startsWith('PAR1')) {
    const source = `read_parquet(${name})`;
    return selectLines(file, source, await describe(source), refuse);
  }
  if (head.includes(0)) throw refuse('no text, for example in UTF-16 as Excel saves it');
  const [line = ''] = head
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .split(/\r?\n/);
  if (/^\s*[[{]|@(timestamp|message|log)\b/.test(line)) {
    throw refuse('a result of CloudWatch Logs Insights, not a bill');
  }
  if (line.split(';').length > line.split(',').length) {
    throw refuse('separated by semicolons, as Excel saves CSV in some languages');
  }
  const names: string[] = parse(line, { relax_quotes: true })[0] ?? [];
  // Without its own detection, DuckDB's errors name the row. A column that is given twice is renamed.
  const columns = names.map((one, index) => (names.indexOf(one) < index ? `${one}_${index}` : one));
  const listed = columns.map((one) => `${toText(one)}: 'VARCHAR'`).join(', ');
  const source = `read_csv(${name}, auto_detect = false, header = true, delim = ',', quote = '"', escape = '"', columns = {${listed}})`;
  const texts = columns.map((one) => ({ name: one, type: 'VARCHAR' }));
  return selectLines(file, source, texts, refuse);
}

/** The first bytes, decompressed. Reads a compressed file to its end, since DuckDB takes a truncated one for whole. */
async function readHead(file: string): Promise<Buffer> {
  const begin = Buffer.concat(await createReadStream(file, { end: MAX_HEAD_BYTES - 1 }).toArray());
  if (begin[0] !== 0x1f || begin[1] !== 0x8b) return begin;
  let head = Buffer.alloc(0);
  await pipeline(createReadStream(file), createGunzip(), async (chunks) => {
    for await (const chunk of chunks) {
      if (head.length < MAX_HEAD_BYTES) head = Buffer.concat([head, chunk]);
    }
  }).catch(({ message }: Error) => {
    throw new Error(
      `${file} is damaged or was not downloaded to its end (${message}). Download it again.`,
    );
  });
  return head;
}
const MAX_HEAD_BYTES = 65_536;

function selectLines(
  file: string,
  source: string,
  columns: readonly Column[],
  refuse: (found: string) => Error,
): string {
  if (columns.some(({ name }) => /^(lineItem|bill|identity)\//.test(name))) {
    throw refuse('a legacy Cost and Usage Report, with columns such as lineItem/UnblendedCost');
  }
  const find = (name: string) => columns.find((one) => one.name.toLowerCase() === name);
  const format = find('billedcost') ? 'FOCUS' : 'CUR 2.0';
  if (format === 'CUR 2.0' && !find('line_item_unblended_cost')) {
    const begin = columns.slice(0, 3).map(({ name }) => name);
    throw refuse(`no bill that is known here: its columns begin with ${begin.join(', ')}`);
  }
  const values = Object.entries(fields).map(([field, [, cur, focus]]) => {
    const text = format === 'FOCUS' ? focus : cur;
    const names = text.replace('?', '');
    const column = names.split(' or ').map(find).find(Boolean);
    if (!column && !text.endsWith('?')) {
      throw new Error(`${file} has no column ${names}. ${needed}`);
    }
    return `${column ? toValue(column) : 'NULL'} AS "${field}"`;
  });
  const maps = columns.filter(({ name }) => tagMaps.includes(name.toLowerCase()));
  const tags = ['stage', 'service'].map((tag) => {
    const own = columns.filter(({ name }) => toTagColumn(tag).test(name));
    const all = [...own.map(toValue), ...maps.map((map) => toTagOf(map, tag)), 'NULL'];
    return `coalesce(${all.join(', ')}) AS "${tag}Tag"`;
  });
  if (maps.length === 0 && !columns.some(({ name }) => toTagColumn('stage').test(name))) {
    throw new Error(`${file} has no column of tags, such as resource_tags or Tags. ${needed}`);
  }
  return `SELECT ${toText(file)} AS file, ${[...values, ...tags].join(', ')} FROM ${source}`;
}

/** In text, nothing is empty. */
const toValue = ({ name, type }: Column) =>
  type === 'VARCHAR' ? `nullif(${toName(name)}, '')` : toName(name);

/**
 * A tag in a map, in every spelling that AWS documents: `user_stage` in `resource_tags`, `resourceTags/stage` in `tags`,
 * `user:stage` or `stage` in FOCUS.
 */
function toTagOf(map: Column, tag: string): string {
  const keys = ['', 'resourceTags/'].flatMap((prefix) =>
    ['user_', 'user:', ''].map((user) => toText(`$."${prefix}${user}${tag}"`)),
  );
  const json = map.type === 'VARCHAR' ? toValue(map) : `to_json(${toName(map.name)})`;
  return `list_filter(json_extract_string(${json}, [${keys.join(', ')}]), lambda x: x <> '')[1]`;
}

export const toText = (text: string) => `'${text.replaceAll("'", "''")}'`;
const toName = (name: string) => `"${name.replaceAll('"', '""')}"`;
