import { toColumns } from '../../cli/output.ts';
import type { BilledUsage, Reconciliation } from './reconcile.ts';

/** Of what is not the service's, more usage types than these are summed up. */
const MOST_OTHERS = 10;

/** For people: what the model explains, what it does not, and what is not the service's. */
export function toReconciliationText({ usage, unexplained, others }: Reconciliation): string {
  const head = [
    ...['USAGE TYPE', 'UNIT', 'BILLED', 'MODELLED', 'QUANTITY ERROR', 'PRICE ERROR'],
    ...['BILLED $', 'MODELLED $', 'DOLLARS ERROR'],
  ];
  const rows = usage.map((row) => [
    row.usageType,
    row.unit,
    toQuantity(row.billed.quantity),
    toQuantity(row.modelled.quantity),
    toPercent(row.quantityError),
    toPercent(row.priceError),
    row.billed.dollars.toFixed(2),
    row.modelled.dollars.toFixed(2),
    toPercent(row.dollarsError),
  ]);
  const billed = usage.reduce((sum, row) => sum + row.billed.dollars, 0);
  const modelled = usage.reduce((sum, row) => sum + row.modelled.dollars, 0);
  const error = billed > 0 ? (100 * (modelled - billed)) / billed : undefined;
  const total = [
    ...['all of these', '', '', '', '', ''],
    ...[billed.toFixed(2), modelled.toFixed(2), toPercent(error)],
  ];
  return [
    toColumns([head, ...rows, total]),
    toList('Not explained', unexplained, unexplained.length),
    toList('Not this service', others, MOST_OTHERS),
  ].join('\n\n');
}

/** Without what cost nothing. */
function toList(title: string, all: readonly BilledUsage[], most: number): string {
  const usage = all.filter(({ dollars }) => dollars !== 0);
  const sum = (of: readonly BilledUsage[]) => of.reduce((total, { dollars }) => total + dollars, 0);
  const heading = `${title}: $${sum(usage).toFixed(2)}`;
  const rest = usage.slice(most);
  const rows = [
    ...usage
      .slice(0, most)
      .map(({ service, usageType, quantity, dollars }) => [
        `  ${service}`,
        usageType,
        toQuantity(quantity),
        `$${dollars.toFixed(2)}`,
      ]),
    ...(rest.length > 0 ? [[`  ${rest.length} others`, '', '', `$${sum(rest).toFixed(2)}`]] : []),
  ];
  return rows.length > 0 ? `${heading}\n${toColumns(rows)}` : heading;
}

function toQuantity(quantity: number): string {
  return quantity.toLocaleString('en-US', { maximumSignificantDigits: 6 });
}

function toPercent(error: number | undefined): string {
  if (error === undefined) return '-';
  return `${error < 0 ? '' : '+'}${error.toFixed(1)} %`;
}
