import {
  asyncBufferFromFile,
  parquetMetadataAsync,
  parquetReadObjects,
  parquetSchema,
} from 'hyparquet';
import { parseCsvLine, readLines } from '../../cli/lines.ts';
import { withoutRegion } from './expectedUsage.ts';

export type BilledLine = ReturnType<typeof parseLine>[number];

/**
 * The lines of an export. Memory does not grow with the file; a Parquet file needs the memory of one row group.
 */
export async function* readExport(file: string): AsyncGenerator<BilledLine> {
  let places: ReturnType<typeof findPlaces> | undefined;
  let rows = 0;
  try {
    for await (const cells of /\.parquet$/i.test(file) ? readParquet(file) : readCsv(file)) {
      if (places) {
        yield* parseLine(Object.fromEntries(places.map(([field, place]) => [field, cells[place]])));
        rows += 1;
      } else places = findPlaces(cells.map(String));
    }
  } catch (error) {
    const { message } = error as Error;
    if (message.startsWith(file)) throw error;
    throw new Error(`${file} cannot be read at row ${rows + 1}: ${message}.`);
  }
  if (rows === 0) throw new Error(`${file} cannot be read: it has no rows.`);
}

/** The names of the columns, then the cells of each row. */
type Rows = AsyncGenerator<readonly unknown[]>;

/** CSV or .csv.gz. */
async function* readCsv(file: string): Rows {
  let length: number | undefined;
  for await (const text of readLines(file)) {
    if (text === '') continue;
    const cells = parseCsvLine(text);
    length ??= cells?.length;
    if (!cells || cells.length !== length) {
      throw new Error('it has more or fewer fields than the first line');
    }
    yield cells;
  }
}

/** Reads only known columns, by row group. AWS compresses with Snappy. */
async function* readParquet(path: string): Rows {
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  const known = Object.values(columnNames).flat();
  const all = parquetSchema(metadata).children.map(({ element }) => element.name);
  const columns = all.filter((name) => known.includes(name.toLowerCase()));
  yield columns;
  let rowStart = 0;
  for (const { num_rows: rows } of metadata.row_groups) {
    const rowEnd = rowStart + Number(rows);
    const group = { file, metadata, columns, rowStart, rowEnd };
    for (const row of await parquetReadObjects(group)) yield columns.map((name) => row[name]);
    rowStart = rowEnd;
  }
}

/**
 * The columns that are read in CUR 2.0 and in FOCUS. In FOCUS, AWS adds a column with the usage type.
 * https://docs.aws.amazon.com/cur/latest/userguide/table-dictionary-cur2.html
 * https://docs.aws.amazon.com/cur/latest/userguide/table-dictionary-focus-1-2-aws.html
 */
const columnNames = {
  service: ['line_item_product_code', 'servicename'],
  usageType: ['line_item_usage_type', 'x_usagetype', 'skumeter'],
  kind: ['line_item_line_item_type', 'chargecategory'],
  quantity: ['line_item_usage_amount', 'consumedquantity'],
  dollars: ['line_item_unblended_cost', 'billedcost'],
  start: ['line_item_usage_start_date', 'chargeperiodstart'],
  end: ['line_item_usage_end_date', 'chargeperiodend'],
  account: ['line_item_usage_account_id', 'subaccountid'],
  tags: ['resource_tags', 'tags'],
  currency: ['line_item_currency_code', 'billingcurrency'],
  resource: ['line_item_resource_id', 'resourceid'],
  // Of FOCUS alone.
  listCost: ['listcost'],
  commitment: ['commitmentdiscountid'],
  chargeClass: ['chargeclass'],
};
type Field = keyof typeof columnNames;
const optional = ['resource', 'listCost', 'commitment', 'chargeClass'];

/** @throws {Error} when a column is missing */
function findPlaces(all: readonly string[]) {
  return Object.entries(columnNames).map(([field, names]) => {
    const place = all.findIndex((one) => names.includes(one.toLowerCase()));
    if (place >= 0 || optional.includes(field)) return [field, place] as const;
    throw new Error(`it has no column ${names.join(' or ')}`);
  });
}

function parseLine(cells: Readonly<Partial<Record<Field, unknown>>>) {
  const toText = (field: Field) => String(cells[field] ?? '');
  // Nothing is 0, as the quantity of a tax is.
  const toNumber = (field: Field, number = Number(toText(field))) => {
    if (Number.isFinite(number)) return number;
    throw new Error(`${JSON.stringify(cells[field])} is not a number or a time`);
  };
  const line = {
    /** Such as `AmazonApiGateway`, or `Amazon API Gateway`. */
    service: toText('service'),
    usageType: withoutRegion(toText('usageType')),
    // `Correction` is a line of a month that was billed before. For a Savings Plan, the kinds are those of CUR 2.0.
    kind: toText(cells.chargeClass === 'Correction' ? 'chargeClass' : 'kind'),
    quantity: toNumber('quantity'),
    currency: toText('currency'),
    resource: toText('resource'),
    /** For use that a Savings Plan covers, the cost without the plan. */
    dollars: toNumber('dollars'),
    start: toNumber('start', toTime(cells.start)),
    end: toNumber('end', toTime(cells.end)),
    account: toText('account'),
    tags: toTags(cells.tags),
  };
  if (toText('commitment') === '' || line.kind !== 'Usage') return [line];
  // FOCUS has one line of it, which bills nothing: https://docs.aws.amazon.com/cur/latest/userguide/cur-sp.html
  const list = toNumber('listCost');
  return [
    { ...line, kind: 'SavingsPlanCoveredUsage', dollars: list },
    { ...line, kind: 'SavingsPlanNegation', quantity: 0, dollars: line.dollars - list },
  ];
}

/** Times without a zone are UTC. */
function toTime(cell: unknown): number {
  if (cell instanceof Date) return cell.getTime();
  const text = String(cell);
  return Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);
}

/** Tags by name, without the prefix that AWS adds to user tags. */
function toTags(cell: unknown): Record<string, string> {
  const tags: object = typeof cell === 'string' ? JSON.parse(cell || '{}') : (cell ?? {});
  const toName = (name: string) => name.toLowerCase().replace(/^user[:_]/, '');
  return Object.fromEntries(
    Object.entries(tags).map(([name, value]) => [toName(name), String(value)]),
  );
}
