import { Duration } from 'aws-cdk-lib';
import { type Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { OperationId } from '../../shared/contract/operations.ts';
import { findPrices } from '../costs/prices/priceTables.ts';
import { toFirstPrice } from '../costs/prices/tieredPrice.ts';
import { toFunctionMetric, toGatewayMetric } from '../service/serviceMetrics.ts';
import type { Stage } from '../stages/stages.ts';
import type { TableName } from '../stages/tables.ts';
import { toIncomingBytes, toSentBytes } from './requestMetrics.ts';
import { toConsumedUnits } from './tableMetrics.ts';

/** Dollars a day of one thing that AWS counts, as metric math. */
export interface CostTerm {
  /** The metric's name in the expression; the same one has the same metric everywhere. */
  readonly id: string;
  readonly metric: Metric;
  readonly expression: string;
}

export const day = Duration.days(1);
const sum = { statistic: Stats.SUM, period: day };
const MILLION = 1_000_000;
const GIGABYTE = 1_024 ** 3;

const pricesOf = ({ settings }: Stage) => findPrices(settings.region);

/** @param dollars of each request */
export function toRequestCost(stage: Stage, dollars: number): CostTerm {
  return toTerm('requests', toGatewayMetric(stage, 'Count', sum), dollars);
}

export function toGatewayCost(stage: Stage): CostTerm {
  return toRequestCost(stage, toFirstPrice(pricesOf(stage).gatewayRequests) / MILLION);
}

/** The calls of a function, and the time that they take in its memory. INIT is billed too, and not in it. */
export function toFunctionCost(stage: Stage, id: OperationId): CostTerm[] {
  const prices = pricesOf(stage);
  const gigabytes = stage.settings.memoryMegabytes[id] / 1_024;
  return [
    toCallCost(stage, id, prices.lambdaPerMillionRequests),
    toTerm(
      `${id}Milliseconds`,
      toFunctionMetric(stage, id, 'Duration', sum),
      (prices.lambdaPerGigabyteSecond * gigabytes) / 1_000,
    ),
  ];
}

export function toCallCost(stage: Stage, id: OperationId, perMillion: number): CostTerm {
  const calls = toFunctionMetric(stage, id, 'Invocations', sum);
  return toTerm(`${id}Calls`, calls, perMillion / MILLION);
}

export function toUnitCost(stage: Stage, table: TableName, kind: 'Read' | 'Write'): CostTerm {
  const prices = pricesOf(stage);
  const perMillion =
    kind === 'Read' ? prices.dynamoDbPerMillionReadUnits : prices.dynamoDbPerMillionWriteUnits;
  const units = toConsumedUnits(stage, table, kind).with({ period: day });
  return toTerm(`${table}${kind}Units`, units, perMillion / MILLION);
}

/** @param of whose log it is */
export function toLogCost(stage: Stage, of: string, logGroupName: string): CostTerm {
  const bytes = toIncomingBytes(logGroupName, sum);
  return toTerm(`${of}LogBytes`, bytes, pricesOf(stage).logsPerGigabyte / GIGABYTE);
}

/** Headers, and the body where it is small, of an answer: what is left out of the metric of the bytes sent. */
const SMALL_ANSWER_BYTES = 800;

export function toTransferCost(stage: Stage): CostTerm[] {
  const perByte = toFirstPrice(pricesOf(stage).transferBytes) / MILLION;
  return [
    toRequestCost(stage, SMALL_ANSWER_BYTES * perByte),
    toTerm('sentBytes', toSentBytes(stage, sum), perByte),
  ];
}

/** At most: a day's reserved traces are taken for spent where as many requests came, however they lay. */
export function toTraceCost(stage: Stage): CostTerm {
  const { reservedPerSecond, percent } = stage.settings.tracing;
  const requests = toRequestCost(stage, 0);
  const count = 'FILL(requests, 0)';
  const reserved = reservedPerSecond * day.toSeconds();
  const traces = `IF(${count} > ${reserved}, ${reserved} + (${count} - ${reserved}) * ${toDecimal(percent / 100)}, ${count})`;
  return {
    ...requests,
    expression: `${toDecimal(pricesOf(stage).tracesPerMillion / MILLION)} * ${traces}`,
  };
}

function toTerm(id: string, metric: Metric, dollars: number): CostTerm {
  // A day without a value would leave the whole sum without one.
  return { id, metric, expression: `${toDecimal(dollars)} * FILL(${id}, 0)` };
}

/** Metric math reads no exponents, which JavaScript writes small numbers with. */
function toDecimal(value: number): string {
  return value.toFixed(15).replace(/\.?0+$/, '');
}
