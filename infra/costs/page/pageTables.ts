import { toTable } from '../../docs/markdown/table.ts';
import { type StageName, stageNames } from '../../stages/stages.ts';
import { componentLabels, components } from '../model/components.ts';
import { readFixedUnits, sumFixedDollars, toFixedDollars } from '../model/fixedCosts.ts';
import type { OperationCost } from '../model/operationCosts.ts';
import type { PriceTable } from '../prices/priceTable.ts';
import { listFixedParts } from '../report/reportText.ts';

/** Dollars per million requests, by operation, answer and component; by entries where these differ. */
export function toOperationTable(costs: readonly OperationCost[]): string {
  const used = components.filter((one) => costs.some((cost) => cost.components[one] > 0));
  const hasSizes = new Set(costs.flatMap(({ entries = [] }) => entries)).size > 1;
  const toSize = ({ entries }: OperationCost) => entries?.toLocaleString('en-US') ?? '';
  return toTable(
    [
      'operation',
      'answer',
      ...(hasSizes ? ['entries'] : []),
      'total',
      ...used.map((one) => componentLabels[one]),
    ],
    costs.map((cost) => [
      cost.operationId,
      cost.answer,
      ...(hasSizes ? [toSize(cost)] : []),
      `**${cost.dollarsPerMillion.toFixed(2)}**`,
      ...used.map((component) => toAmount(cost.components[component])),
    ]),
  );
}

/** @param entries the length of the inventory */
export function toFixedTable(prices: PriceTable, entries: number): string {
  const toRow = (name: StageName) => {
    const parts = toFixedDollars(readFixedUnits()[name], prices, entries);
    const listed = listFixedParts(parts).map(([part, dollars]) => `${part} ${dollars.toFixed(2)}`);
    return [name, `**${sumFixedDollars(parts).toFixed(2)}**`, listed.join(', ')];
  };
  return toTable(['stage', 'dollars a month', 'of which'], stageNames.map(toRow));
}

/** What costs nothing stays blank. */
function toAmount(dollars: number): string {
  return dollars === 0 ? '' : dollars.toFixed(2);
}
