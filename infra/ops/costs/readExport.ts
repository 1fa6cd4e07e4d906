import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { parse } from 'csv-parse';
import { withoutRegion } from '../../costs/usageTypes.ts';

export type BilledLine = ReturnType<typeof parseLine>[number];

/** The lines of an export. Memory does not grow with the file. */
export async function* readExport(file: string): AsyncGenerator<BilledLine> {
  const packed = createReadStream(file);
  const text = /\.gz$/i.test(file) ? pipeline(packed, createGunzip(), () => {}) : packed;
  const csv = parse({ bom: true, columns: toFields, skip_empty_lines: true });
  let rows = 0;
  try {
    for await (const cells of pipeline(text, csv, () => {})) {
      yield* parseLine(cells);
      rows += 1;
    }
  } catch (error) {
    throw new Error(`${file} cannot be read at row ${rows + 1}: ${(error as Error).message}.`);
  }
  if (rows === 0) throw new Error(`${file} cannot be read: it has no rows.`);
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

/** The field of each column, if it is read. @throws {Error} when one is missing */
function toFields(header: readonly string[]) {
  const fields = new Map<number, string>();
  for (const [field, names] of Object.entries(columnNames)) {
    const place = header.findIndex((one) => names.includes(one.toLowerCase()));
    if (place < 0 && !optional.includes(field)) {
      throw new Error(`it has no column ${names.join(' or ')}`);
    }
    fields.set(place, field);
  }
  return header.map((_, place) => fields.get(place));
}

function parseLine(cells: Readonly<Partial<Record<Field, string>>>) {
  const toText = (field: Field) => cells[field] ?? '';
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
    start: toNumber('start', toTime(toText('start'))),
    end: toNumber('end', toTime(toText('end'))),
    account: toText('account'),
    tags: toTags(toText('tags')),
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
function toTime(text: string): number {
  return Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);
}

/** Tags by name, without the prefix that AWS adds to user tags. */
function toTags(text: string): Record<string, string> {
  const tags: object = JSON.parse(text || '{}');
  const toName = (name: string) => name.toLowerCase().replace(/^user[:_]/, '');
  return Object.fromEntries(
    Object.entries(tags).map(([name, value]) => [toName(name), String(value)]),
  );
}
