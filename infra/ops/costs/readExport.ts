import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import {
  asyncBufferFromFile,
  parquetMetadataAsync,
  parquetReadObjects,
  parquetSchema,
} from 'hyparquet';
import { parseCsvLine, readLines } from '../../cli/lines.ts';
import { withoutRegion } from './expectedUsage.ts';

export interface BilledLine {
  /** Such as `AmazonApiGateway`, or `Amazon API Gateway`. */
  readonly service: string;
  /** Without the region, such as `ApiGatewayRequest`. */
  readonly usageType: string;
  /** `Usage`, `Tax`, `Credit` and others; for a Savings Plan as in a Cost and Usage Report. */
  readonly kind: string;
  readonly quantity: number;
  /** Such as `USD`; empty if the export has no column of it. */
  readonly currency: string;
  /** Empty if the export has none. */
  readonly resource: string;
  /** As billed, in US dollars if that is the currency; for use that a Savings Plan covers, the cost without the plan. */
  readonly dollars: number;
  /** When the use began and ended, in milliseconds since the epoch. */
  readonly start: number;
  readonly end: number;
  readonly account: string;
  readonly tags: Readonly<Record<string, string>>;
}

/**
 * The lines of an export. Memory does not grow with the file; a Parquet file needs the memory of one row group.
 * @throws {Error} that names the row which cannot be read
 */
export async function* readExport(file: string): AsyncGenerator<BilledLine> {
  let rows = 0;
  try {
    for await (const cells of /\.parquet$/i.test(file) ? readParquet(file) : readCsv(file)) {
      yield* parseLine(cells);
      rows += 1;
    }
  } catch (error) {
    const { message } = error as Error;
    if (message.startsWith(file)) throw error;
    throw new Error(`${file} cannot be read at row ${rows + 1}: ${message}.`);
  }
  if (rows === 0) throw new Error(`${file} cannot be read: it has no rows.`);
}

/** The cells of the fields in order: text in CSV, values of several types in Parquet. */
type Cells = readonly unknown[];

/** CSV or .csv.gz. The first line names the columns. */
async function* readCsv(file: string): AsyncGenerator<Cells> {
  let header: { readonly length: number; readonly places: readonly number[] } | undefined;
  for await (const lines of readLines(file)) {
    for (const { text } of lines) {
      if (text === '') continue;
      const cells = parseCsvLine(text);
      if (!cells || (header && cells.length !== header.length)) {
        throw new Error('it has more or fewer fields than the first line');
      }
      if (header) yield header.places.map((place) => cells[place]);
      else {
        const places = findColumns(cells).map((name) =>
          name === undefined ? -1 : cells.indexOf(name),
        );
        header = { length: cells.length, places };
      }
    }
  }
}

/** Compressions of Parquet besides Snappy, which AWS uses. */
const compressors = {
  ZSTD: (bytes: Uint8Array) => zstdDecompressSync(bytes),
  GZIP: (bytes: Uint8Array) => gunzipSync(bytes),
};

/** The needed columns of each row group of a Parquet file. */
async function* readParquet(path: string): AsyncGenerator<Cells> {
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  const found = findColumns(parquetSchema(metadata).children.map(({ element }) => element.name));
  const columns = found.filter((name) => name !== undefined);
  let rowStart = 0;
  for (const { num_rows: rows } of metadata.row_groups) {
    const rowEnd = rowStart + Number(rows);
    const group = { file, metadata, columns, compressors, rowStart, rowEnd };
    for (const row of await parquetReadObjects(group)) yield found.map((name) => name && row[name]);
    rowStart = rowEnd;
  }
}

/**
 * The columns that are read in CUR 2.0 and in FOCUS. In FOCUS, AWS adds a column with the usage type.
 * https://docs.aws.amazon.com/cur/latest/userguide/table-dictionary-cur2.html
 * https://docs.aws.amazon.com/cur/latest/userguide/table-dictionary-focus-1-2-aws.html
 */
const columnNames = [
  ['line_item_product_code', 'servicename'],
  ['line_item_usage_type', 'x_usagetype', 'skumeter'],
  ['line_item_line_item_type', 'chargecategory'],
  ['line_item_usage_amount', 'consumedquantity'],
  ['line_item_unblended_cost', 'billedcost'],
  ['line_item_usage_start_date', 'chargeperiodstart'],
  ['line_item_usage_end_date', 'chargeperiodend'],
  ['line_item_usage_account_id', 'subaccountid'],
  ['resource_tags', 'tags'],
] as const;
/** Columns that an export may lack; the last are of FOCUS alone. */
const optionalNames = [
  ['line_item_currency_code', 'billingcurrency'],
  ['line_item_resource_id', 'resourceid'],
  ...[['listcost'], ['commitmentdiscountid'], ['chargeclass']],
];

/** @returns the columns as the export spells them, `undefined` where it does without @throws {Error} when one is missing */
function findColumns(all: readonly string[]): (string | undefined)[] {
  const find = (names: readonly string[]) => all.find((one) => names.includes(one.toLowerCase()));
  const needed = columnNames.map((names) => {
    const found = find(names);
    if (found !== undefined) return found;
    throw new Error(`it has no column ${names.join(' or ')}`);
  });
  return [...needed, ...optionalNames.map(find)];
}

function parseLine(cells: Cells): BilledLine[] {
  const [service, usageType, kind, quantity, dollars, start, end, account, tags, ...others] = cells;
  const [currency, resource, listCost, commitment, chargeClass] = others;
  const line = {
    service: toText(service),
    usageType: withoutRegion(toText(usageType)),
    // A line of a month that was billed before, such as a refund.
    kind: toText(chargeClass === 'Correction' ? chargeClass : kind),
    quantity: toNumber(Number(toText(quantity)), quantity),
    currency: toText(currency),
    resource: toText(resource),
    dollars: toNumber(Number(toText(dollars)), dollars),
    start: toNumber(toTime(start), start),
    end: toNumber(toTime(end), end),
    account: toText(account),
    tags: toTags(tags),
  };
  if (toText(commitment) === '' || line.kind !== 'Usage') return [line];
  // FOCUS has one line of it, which bills nothing: https://docs.aws.amazon.com/cur/latest/userguide/cur-sp.html
  const list = toNumber(Number(toText(listCost)), listCost);
  return [
    { ...line, kind: 'SavingsPlanCoveredUsage', dollars: list },
    { ...line, kind: 'SavingsPlanNegation', quantity: 0, dollars: line.dollars - list },
  ];
}

function toText(cell: unknown): string {
  return String(cell ?? '');
}

/** Nothing is 0, as the quantity of a tax is. @throws {Error} that shows the cell */
function toNumber(number: number, cell: unknown): number {
  if (Number.isFinite(number)) return number;
  throw new Error(`${JSON.stringify(cell)} is not a number or a time`);
}

/** Times without a zone are UTC. */
function toTime(cell: unknown): number {
  if (cell instanceof Date) return cell.getTime();
  const text = toText(cell);
  return Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);
}

/** Tags by name, without the prefix that AWS adds to user tags. */
function toTags(cell: unknown): Record<string, string> {
  const tags: object = typeof cell === 'string' ? JSON.parse(cell || '{}') : (cell ?? {});
  const toName = (name: string) => name.toLowerCase().replace(/^user[:_]/, '');
  return Object.fromEntries(
    Object.entries(tags).map(([name, value]) => [toName(name), toText(value)]),
  );
}
