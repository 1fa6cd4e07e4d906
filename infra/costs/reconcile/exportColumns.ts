import { type BilledLine, withoutRegion } from './billedLine.ts';
import { toNumber, toTags, toText, toTime } from './cells.ts';

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
export interface LineParser {
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
export function defineLineParser(names: readonly string[], needsStart: boolean): LineParser {
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
