import {
  type AsyncBuffer,
  asyncBufferFromFile,
  parquetMetadataAsync,
  parquetReadObjects,
  parquetSchema,
} from 'hyparquet';
import { parseCsvLine } from '../data/files/csv.ts';
import { type Line, readLines } from '../data/files/readLines.ts';

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
 * @param needsStart whether days were asked for
 * @throws {Error} that names the line which cannot be read
 */
export function readExport(file: string, needsStart: boolean): AsyncGenerator<BilledLine[]> {
  return /\.parquet$/i.test(file) ? readParquet(file, needsStart) : readCsv(file, needsStart);
}

/**
 * The lines of a CSV file, gzip by its name or not. The first one names the columns.
 * @throws {Error} that names the line which cannot be read
 */
async function* readCsv(file: string, needsStart: boolean): AsyncGenerator<BilledLine[]> {
  let parser: LineParser | undefined;
  let width = 0;

  function parse(line: Line): BilledLine[] {
    const cells = toCells(line);
    if (parser === undefined) {
      parser = defineLineParser(cells, needsStart);
      width = cells.length;
      return [];
    }
    if (cells.length === width) return [parser.parse(cells)];
    throw new Error(`it has ${cells.length} fields, and the first line has ${width}`);
  }

  for await (const lines of readLines(file)) {
    yield lines.flatMap((line) => {
      try {
        return line.text === '' && !line.problem ? [] : parse(line);
      } catch (error) {
        const { message } = error as Error;
        throw new Error(`${file} cannot be read at line ${line.number}: ${message}.`);
      }
    });
  }
  if (!parser) throw new Error(`${file} cannot be read: it is empty.`);
}

/** A field cannot go on in the next line, which those of AWS's exports never do. */
function toCells({ text, problem }: Line): string[] {
  if (problem) throw new Error(`it ${problem}`);
  const cells = parseCsvLine(text);
  if (cells) return cells;
  throw new Error('its quotes do not match');
}

/**
 * The lines of a Parquet file, as AWS exports them with Snappy: of each of its row groups, the columns that
 * are needed.
 * @throws {Error} that names the row which cannot be read
 */
async function* readParquet(file: string, needsStart: boolean): AsyncGenerator<BilledLine[]> {
  let row = 0;
  try {
    const buffer = await asyncBufferFromFile(file);
    const metadata = await parquetMetadataAsync(buffer);
    const names = parquetSchema(metadata).children.map(({ element }) => element.name);
    const parser = defineLineParser(names, needsStart);
    for (const group of metadata.row_groups) {
      const range = { rowStart: row, rowEnd: row + Number(group.num_rows) };
      const lines: BilledLine[] = [];
      for (const cells of await readCells(buffer, names, parser, range)) {
        row += 1;
        lines.push(parser.parse(cells));
      }
      yield lines;
    }
  } catch (error) {
    const where = row > 0 ? ` at row ${row}` : '';
    throw new Error(`${file} cannot be read${where}: ${(error as Error).message}.`);
  }
}

async function readCells(
  file: AsyncBuffer,
  names: readonly string[],
  { columns }: LineParser,
  range: { rowStart: number; rowEnd: number },
): Promise<unknown[][]> {
  const wanted = columns.map((index) => names[index] ?? '');
  const rows = await parquetReadObjects({ file, columns: wanted, ...range });
  return rows.map((row) => names.map((name) => row[name]));
}

/** The columns that are read of one kind of export, by the names that they may have. */
interface Layout {
  readonly service: readonly string[];
  readonly usageType: readonly string[];
  readonly kind: readonly string[];
  readonly quantity: readonly string[];
  readonly dollars: readonly string[];
  readonly start: readonly string[];
  /** A column that holds all tags, as JSON. */
  readonly tags: readonly string[];
}

/**
 * CUR 2.0 and FOCUS, in which AWS tells the usage type by a column of its own.
 * https://docs.aws.amazon.com/cur/latest/userguide/table-dictionary-cur2.html
 * https://docs.aws.amazon.com/cur/latest/userguide/table-dictionary-focus-1-2-aws.html
 */
const layouts: readonly Layout[] = [
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

/** How an export's lines are read. */
interface LineParser {
  /** The columns that are looked at, by their places. */
  readonly columns: readonly number[];
  /** @throws {Error} on a line that makes no sense */
  parse(cells: readonly unknown[]): BilledLine;
}

/**
 * @param names those of all columns
 * @param needsStart whether days were asked for
 * @throws {Error} when a column is missing
 */
function defineLineParser(names: readonly string[], needsStart: boolean): LineParser {
  const lower = names.map((name) => name.toLowerCase());
  const find = (options: readonly string[]) =>
    options.map((option) => lower.indexOf(option)).find((at) => at >= 0) ?? -1;
  const layout = layouts.find(({ dollars }) => find(dollars) >= 0);
  if (!layout)
    throw new Error('its columns are not those of a Cost and Usage Report 2.0 or of FOCUS');
  const need = (options: readonly string[]) => {
    const index = find(options);
    if (index < 0) throw new Error(`it has no column ${options.join(' or ')}`);
    return index;
  };
  const service = need(layout.service);
  const usageType = need(layout.usageType);
  const quantity = need(layout.quantity);
  const dollars = need(layout.dollars);
  const start = needsStart ? need(layout.start) : -1;
  const kind = find(layout.kind);
  const tags = need(layout.tags);
  const columns = [service, usageType, quantity, dollars, start, kind, tags];
  return {
    columns: columns.filter((index) => index >= 0),
    parse: (cells) => ({
      service: toText(cells[service]),
      usageType: withoutRegion(toText(cells[usageType])),
      kind: toText(cells[kind]) || 'Usage',
      quantity: toNumber(cells[quantity], names[quantity]),
      dollars: toNumber(cells[dollars], names[dollars]),
      start: needsStart ? toTime(cells[start], names[start]) : undefined,
      tags: toTags(cells[tags]),
    }),
  };
}

/**
 * A usage type without the region that it begins with: `USE1-`, `EU-`, and of some services `us-east-1-`.
 * https://docs.aws.amazon.com/global-infrastructure/latest/regions/aws-region-billing-codes.html
 */
function withoutRegion(usageType: string): string {
  return usageType.replace(/^(?:[A-Z]{2,4}\d|EU|CPT|Global|[a-z]{2}(?:-[a-z]+)+-\d)-/, '');
}

/** What AWS puts before the names of tags that users give. */
const userPrefix = /^user[:_]/;

/** What a cell of an holds: text in CSV, and values of several types in Parquet. */
function toText(cell: unknown): string {
  return cell === undefined || cell === null ? '' : String(cell);
}

/** Nothing is 0, as the quantity of a tax is. @throws {Error} that names the column */
function toNumber(cell: unknown, name: string | undefined): number {
  const number = Number(toText(cell));
  if (Number.isFinite(number)) return number;
  throw new Error(`${name} is no number: ${JSON.stringify(cell)}`);
}

/** Times have no zone in some exports, and are of UTC. @throws {Error} that names the column */
function toTime(cell: unknown, name: string | undefined): number {
  if (cell instanceof Date) return cell.getTime();
  const text = toText(cell).trim().replace(' ', 'T');
  const time = Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);
  if (Number.isFinite(time)) return time;
  throw new Error(`${name} is no time: ${JSON.stringify(cell)}`);
}

/** By their names, without what AWS puts before those that users give. */
function toTags(cell: unknown): Record<string, string> {
  const tags = typeof cell === 'string' && cell !== '' ? JSON.parse(cell) : cell;
  if (typeof tags !== 'object' || tags === null) return {};
  return Object.fromEntries(
    Object.entries(tags).map(([name, value]) => [
      String(name).toLowerCase().replace(userPrefix, ''),
      toText(value),
    ]),
  );
}
