import { MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import { operationIds } from '../../shared/contract/operations.ts';
import { findPrices } from '../costs/prices/priceTables.ts';
import { toFirstPrice } from '../costs/prices/tieredPrice.ts';
import { toAccessLogName, toFunctionLogName } from '../stages/resourceNames.ts';
import { operationSettings, type Stage } from '../stages/stages.ts';
import { tableNames } from '../stages/tables.ts';
import {
  type CostTerm,
  day,
  toCallCost,
  toFunctionCost,
  toGatewayCost,
  toLogCost,
  toTraceCost,
  toTransferCost,
  toUnitCost,
} from './costTerms.ts';
import { writtenTables } from './tableMetrics.ts';

/** What a part of the stage costs. */
export interface CostEstimate {
  readonly label: string;
  readonly terms: readonly CostTerm[];
  /** The requests that it is shared out among. */
  readonly requests: CostTerm;
}

/** By what AWS bills apart, but for the firewall. */
export function estimateComponents(stage: Stage): CostEstimate[] {
  const requests = toGatewayCost(stage);
  const parts: Record<string, readonly CostTerm[]> = {
    gateway: [requests],
    Lambda: operationIds.flatMap((id) => toFunctionCost(stage, id)),
    'read units': tableNames.map((table) => toUnitCost(stage, table, 'Read')),
    'write units': writtenTables.map((table) => toUnitCost(stage, table, 'Write')),
    transfer: toTransferCost(stage),
    logs: [
      ...operationIds.map((id) => toLogCost(stage, id, toFunctionLogName(stage, id))),
      toLogCost(stage, 'access', toAccessLogName(stage)),
    ],
    traces: [toTraceCost(stage)],
  };
  return Object.entries(parts).map(([label, terms]) => ({ label, terms, requests }));
}

/** By operation: its calls at the gateway and of its function, with their log, and the units of its tables. */
export function estimateOperations(stage: Stage): CostEstimate[] {
  const gatewayPrice = toFirstPrice(findPrices(stage.settings.region).gatewayRequests);
  return operationIds.map((id) => {
    const calls = toCallCost(stage, id, gatewayPrice);
    const units = owned
      .filter(({ owner }) => owner === id)
      .map(({ table, kind }) => toUnitCost(stage, table, kind));
    const log = toLogCost(stage, id, toFunctionLogName(stage, id));
    return {
      label: id,
      terms: [calls, ...toFunctionCost(stage, id), log, ...units],
      requests: calls,
    };
  });
}

/**
 * CloudWatch counts units by table. Those of a table that several operations read, or write, are given to the
 * first of them in the contract: the inventory is read by its list, and but a little by updates that are refused.
 */
const owned = (['Read', 'Write'] as const).flatMap((kind) =>
  tableNames.map((table) => ({
    table,
    kind,
    owner: operationIds.find((id) =>
      operationSettings[id].access[table]?.some(
        (action) => /:(Put|Update)/.test(action) === (kind === 'Write'),
      ),
    ),
  })),
);

/** Dollars a day, or of a thousand requests. */
export function toDollars(
  { label, terms, requests }: CostEstimate,
  per: 'day' | 'thousandRequests',
): MathExpression {
  const dollars = terms.map(({ expression }) => expression).join(' + ');
  return new MathExpression({
    label,
    expression: per === 'day' ? dollars : `1000 * (${dollars}) / ${requests.id}`,
    usingMetrics: Object.fromEntries([...terms, requests].map(({ id, metric }) => [id, metric])),
    period: day,
  });
}
