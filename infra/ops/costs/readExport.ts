import {
  asyncBufferFromFile,
  parquetMetadataAsync,
  parquetReadObjects,
  parquetSchema,
} from 'hyparquet';

import { type Line, parseCsvLine, readLines } from '../../cli/lines.ts';
import type { DayRange } from './dayRange.ts';

/** What is read of a line of an export. */
export interface BilledLine {
  /** Such as `AmazonApiGateway`, or `Amazon API Gateway`. */
  readonly service: string;
  /** Without the region, such as `ApiGatewayRequest`. */
  readonly usageType: string;
  /** `Usage`, or such as `Tax` and `Credit`. */
  readonly kind: string;
  readonly quantity: number;
  /** As billed, in US dollars. */
  readonly dollars: number;
  /** When the use began, in milliseconds since the epoch; only where days were asked for. */
  readonly start?: number | undefined;
  readonly tags: Readonly<Record<string, string>>;
}

/**
 * The lines of an export, some thousands at a time, in memory that does not grow with the file; Parquet,
 * by its name, takes as much as one of its row groups.
 * @param days whose lines are meant; default: all
 * @throws {Error} that names the line which cannot be read
 */
export async function* readExport(
  file: string,
  days: DayRange | undefined,
): AsyncGenerator<BilledLine[]> {
  const read = /\.parquet$/i.test(file) ? readParquet : readCsv;
  for await (const lines of read(file, days !== undefined)) {
    yield days ? lines.filter(({ start = 0 }) => start >= days.from && start < days.end) : lines;
  }
}

/** CSV, gzip by its name or not. The first line names the columns. */
async function* readCsv(file: string, needsStart: boolean): AsyncGenerator<BilledLine[]> {
  let header: { readonly length: number; readonly columns: Columns } | undefined;

  function parse(line: Line): BilledLine[] {
    if (line.text === '') return [];
    const cells = toCells(line);
    if (header === undefined) {
      header = { length: cells.length, columns: findColumns(cells, needsStart) };
      return [];
    }
    if (cells.length === header.length) return [parseLine(header.columns, (index) => cells[index])];
    throw new Error(`it has ${cells.length} fields, and the first line has ${header.length}`);
  }

  for await (const lines of readLines(file)) {
    yield lines.flatMap((line) => {
      try {
        return parse(line);
      } catch (error) {
        const { message } = error as Error;
        throw new Error(`${file} cannot be read at line ${line.number}: ${message}.`);
      }
    });
  }
  if (!header) throw new Error(`${file} cannot be read: it is empty.`);
}

function toCells({ text }: Line): string[] {
  const cells = parseCsvLine(text);
  if (cells) return cells;
  throw new Error('its quotes do not match');
}

/** Parquet, as AWS exports it with Snappy: of each row group, the columns that are needed. */
async function* readParquet(path: string, needsStart: boolean): AsyncGenerator<BilledLine[]> {
  let row = 0;
  try {
    const file = await asyncBufferFromFile(path);
    const metadata = await parquetMetadataAsync(file);
    const names = parquetSchema(metadata).children.map(({ element }) => element.name);
    const columns = findColumns(names, needsStart);
    const wanted = Object.values(columns).flatMap(({ index, name }) => (index < 0 ? [] : [name]));
    for (const group of metadata.row_groups) {
      const range = { rowStart: row, rowEnd: row + Number(group.num_rows) };
      const lines: BilledLine[] = [];
      for (const cells of await parquetReadObjects({ file, columns: wanted, ...range })) {
        row += 1;
        lines.push(parseLine(columns, (index) => cells[names[index] ?? '']));
      }
      yield lines;
    }
  } catch (error) {
    const where = row > 0 ? ` at row ${row}` : '';
    throw new Error(`${path} cannot be read${where}: ${(error as Error).message}.`);
  }
}

/**
 * By what names the columns go in CUR 2.0 and in FOCUS, where AWS tells the usage type by a column of its own.
 * https://docs.aws.amazon.com/cur/latest/userguide/table-dictionary-cur2.html
 * https://docs.aws.amazon.com/cur/latest/userguide/table-dictionary-focus-1-2-aws.html
 */
const layouts: readonly Readonly<Record<Field, readonly string[]>>[] = [
  {
    service: ['line_item_product_code'],
    usageType: ['line_item_usage_type'],
    kind: ['line_item_line_item_type'],
    quantity: ['line_item_usage_amount'],
    dollars: ['line_item_unblended_cost'],
    start: ['line_item_usage_start_date'],
    tags: ['resource_tags'],
  },
  {
    service: ['servicename'],
    usageType: ['x_usagetype', 'skumeter'],
    kind: ['chargecategory'],
    quantity: ['consumedquantity'],
    dollars: ['billedcost'],
    start: ['chargeperiodstart'],
    tags: ['tags'],
  },
];
type Field = 'service' | 'usageType' | 'kind' | 'quantity' | 'dollars' | 'start' | 'tags';

/** Where each column stands, and its name as the export spells it; -1 where it is not read. */
type Columns = Readonly<Record<Field, { readonly index: number; readonly name: string }>>;

/** @throws {Error} when a column is missing */
function findColumns(names: readonly string[], needsStart: boolean): Columns {
  const lower = names.map((name) => name.toLowerCase());
  const find = (options: readonly string[]) =>
    lower.indexOf(options.find((option) => lower.includes(option)) ?? '');
  const layout = layouts.find(({ dollars }) => find(dollars) >= 0);
  if (!layout) {
    throw new Error('its columns are not those of a Cost and Usage Report 2.0 or of FOCUS');
  }
  const found = Object.entries(layout).map(([field, options]) => {
    const isUnread = field === 'start' && !needsStart;
    const index = isUnread ? -1 : find(options);
    if (index < 0 && field !== 'kind' && !isUnread) {
      throw new Error(`it has no column ${options.join(' or ')}`);
    }
    return [field, { index, name: names[index] ?? '' }] as const;
  });
  return Object.fromEntries(found) as Columns;
}

function parseLine(columns: Columns, toCell: (index: number) => unknown): BilledLine {
  const toNumberOf = ({ index, name }: Columns[Field]) => toNumber(toCell(index), name);
  const { service, usageType, kind, quantity, dollars, start, tags } = columns;
  return {
    service: toText(toCell(service.index)),
    usageType: withoutRegion(toText(toCell(usageType.index))),
    kind: toText(toCell(kind.index)) || 'Usage',
    quantity: toNumberOf(quantity),
    dollars: toNumberOf(dollars),
    start: start.index < 0 ? undefined : toTime(toCell(start.index), start.name),
    tags: toTags(toCell(tags.index)),
  };
}

/**
 * A usage type without the region that it begins with: `USE1-`, `EU-`, and of some services `us-east-1-`.
 * https://docs.aws.amazon.com/global-infrastructure/latest/regions/aws-region-billing-codes.html
 */
function withoutRegion(usageType: string): string {
  return usageType.replace(/^(?:[A-Z]{2,4}\d|EU|CPT|Global|[a-z]{2}(?:-[a-z]+)+-\d)-/, '');
}

/** What a cell of an export holds: text in CSV, and values of several types in Parquet. */
function toText(cell: unknown): string {
  return cell === undefined || cell === null ? '' : String(cell);
}

/** Nothing is 0, as the quantity of a tax is. @throws {Error} that names the column */
function toNumber(cell: unknown, name: string): number {
  const number = Number(toText(cell));
  if (Number.isFinite(number)) return number;
  throw new Error(`${name} is no number: ${JSON.stringify(cell)}`);
}

/** Times have no zone in some exports, and are of UTC. @throws {Error} that names the column */
function toTime(cell: unknown, name: string): number {
  if (cell instanceof Date) return cell.getTime();
  const text = toText(cell).trim().replace(' ', 'T');
  const time = Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);
  if (Number.isFinite(time)) return time;
  throw new Error(`${name} is no time: ${JSON.stringify(cell)}`);
}

/** By their names, without what AWS puts before those that users give. */
function toTags(cell: unknown): Record<string, string> {
  const tags: unknown = typeof cell === 'string' && cell !== '' ? JSON.parse(cell) : cell;
  if (typeof tags !== 'object' || tags === null) return {};
  const toName = (name: string) => name.toLowerCase().replace(/^user[:_]/, '');
  return Object.fromEntries(
    Object.entries(tags).map(([name, value]) => [toName(name), toText(value)]),
  );
}
