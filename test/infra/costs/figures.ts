import { toCostReport, toSafeSaleText } from '../../../infra/costs/bills/costReport.ts';
import { toWorstMonth } from '../../../infra/costs/bills/monthlyBill.ts';
import { readCommittedTraffic, sumRequests } from '../../../infra/costs/bills/traffic.ts';
import { sumDollars, toCents } from '../../../infra/costs/bills/usage.ts';
import { componentLabels, components } from '../../../infra/costs/prices.ts';
import { toTable } from '../../../infra/docs/guide.ts';
import type { Stage } from '../../../infra/stages/stages.ts';
import { operationIds } from '../../../shared/contract/operations.ts';
import {
  type CfnResource,
  findProperties,
  type StageTemplates,
} from '../../support/stackTemplates.ts';

/** The figures of the page for finance, for a stage. */
export function toFigures(stage: Stage): string {
  const traffic = readCommittedTraffic();
  const { entries } = traffic;
  const report = toCostReport(stage, traffic, entries);
  const { month, operations } = report;
  const worst = toWorstMonth(stage);
  const parts: Part[] = components.map((one) => [
    componentLabels[one],
    month.components[one] + month.fixedParts[one],
  ]);
  const mostExpensive = operationIds.map((id) =>
    operations
      .filter(({ operationId }) => operationId === id)
      .reduce((most, one) => (one.dollarsPerMillion > most.dollarsPerMillion ? one : most)),
  );
  const worstParts = worst.shares.map((one): Part => {
    return [`${one.operationId} ${one.response}`, sumDollars(one.dollars)];
  });
  return [
    `## The month\n\nProduction's month of ${toWhole(sumRequests(traffic))} requests and ${toWhole(entries)} entries costs **$${toCents(month.total)}**, of which $${toCents(month.fixed)} is fixed.`,
    toPie('Dollars a month', parts),
    `## The most expensive request\n\nLists have ${toWhole(entries)} entries; longer lists cost more.`,
    toTable(
      ['operation', 'response', 'dollars per million'],
      mostExpensive.map((one) => [one.operationId, one.response, toCents(one.dollarsPerMillion)]),
    ),
    `## A safe sale

${toSafeSaleText(report)}`,
    `## The worst month\n\nAn attack around the clock, with a valid key and ${toWhole(worst.entries)} entries, costs **$${toWhole(worst.total)}**. The limit is $${toWhole(stage.settings.worstMonthDollars)}.`,
    toPie('Dollars in the worst month', [
      ...worstParts,
      ['unknown paths', worst.other],
      ['refused requests', worst.refusals],
      ['fixed', worst.fixed],
    ]),
  ].join('\n\n');
}

type Part = readonly [name: string, dollars: number];

/** The largest part first, in the order of the chart's slices. */
function toPie(title: string, parts: readonly Part[]): string {
  const rows = parts
    .filter(([, dollars]) => dollars >= 0.005)
    .sort(([, one], [, other]) => other - one)
    .map(([name, dollars]) => `    "${name}" : ${toCents(dollars).replaceAll(',', '')}`);
  return ['```mermaid', 'pie showData', `    title ${title}`, ...rows, '```'].join('\n');
}

/** Rounds up, as `costs check` does. */
function toWhole(amount: number): string {
  return Math.ceil(amount).toLocaleString('en-US');
}

/** The properties of a stage's resources of a type. */
export function findOfStage({ service, watch }: StageTemplates, type: string) {
  return [service, watch].flatMap((template) => findProperties(template, type));
}

/**
 * The metrics in a stage's templates that AWS bills by the month. A custom metric of errors, which a filter tells by
 * their status, is billed only for the hours with one, and does not count.
 */
export function countMetrics(stage: StageTemplates) {
  const counted = findOfStage(stage, 'AWS::Logs::MetricFilter')
    .filter(({ FilterPattern }) => !/\bstatus\b/.test(FilterPattern))
    .flatMap((one) => one.MetricTransformations)
    .map(({ MetricName, Dimensions }) => `${MetricName} ${Dimensions?.[0].Key}`);
  const count = ({ Metrics }: CfnResource['Properties']): number =>
    Metrics?.filter((metric: { MetricStat?: unknown }) => metric.MetricStat).length ?? 1;
  const alarms = findOfStage(stage, 'AWS::CloudWatch::Alarm').map(count);
  const alarmMetrics = alarms.reduce((total, one) => total + one, 0);
  const compositeAlarms = findOfStage(stage, 'AWS::CloudWatch::CompositeAlarm').length;
  return { alarmMetrics, compositeAlarms, customMetrics: new Set(counted).size };
}
