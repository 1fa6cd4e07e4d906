import type { Template } from 'aws-cdk-lib/assertions';
import { operationIds } from '../../../../shared/contract/operations.ts';
import { findProperties } from '../../../support/stackTemplates.ts';

/** The values of an alarm's metrics in a period, by names such as `getPet Errors`. One without data is left out. */
export type Values = Readonly<Record<string, number>>;

export interface Alarm {
  readonly name: string;
  /** An incident's part sends nothing itself. */
  readonly severity: string;
  readonly description: string;
  /** How many of how many last periods must be at the threshold. */
  readonly periods: readonly [breaching: number, of: number];
  readonly minutes: number;
  readonly statistics: readonly string[];
  /** Each with its namespace. */
  readonly metrics: Readonly<Record<string, string>>;
  readonly missingData: string;
  readonly toValue: (values: Values) => number;
  readonly isBreaching: (value: number) => boolean;
}

const prefix = 'petstore-production-';
const owners = ['FunctionName', 'TableName', 'Rule'];

/** The alarms of production, and what they compare. */
export function readAlarms(template: Template): Alarm[] {
  const incidents = findProperties(template, 'AWS::CloudWatch::CompositeAlarm');
  return Object.entries(template.findResources('AWS::CloudWatch::Alarm')).map(
    ([id, { Properties }]) => {
      const { AlarmName, AlarmDescription, AlarmActions, Metrics, Threshold } = Properties;
      const incident = incidents.find(({ AlarmRule }) =>
        JSON.stringify(AlarmRule).includes(`"${id}"`),
      );
      const read: MetricRow[] = Metrics.filter((one: MetricRow) => one.MetricStat);
      const { Expression } = Metrics.find((one: MetricRow) => one.Expression);
      const names = read.map(toMetricName);
      const calculate = compile(
        read.map(({ Id }) => Id),
        Expression,
      );
      const [first] = read;
      return {
        name: AlarmName.replace(prefix, ''),
        severity: AlarmActions
          ? AlarmDescription.split(':')[0].toLowerCase()
          : incident?.AlarmName.replace(prefix, ''),
        description: AlarmDescription,
        periods: [Properties.DatapointsToAlarm, Properties.EvaluationPeriods],
        minutes: Number(first?.MetricStat.Period) / 60,
        statistics: [...new Set(read.map(({ MetricStat }) => MetricStat.Stat))],
        metrics: Object.fromEntries(
          read.map(({ MetricStat }, index) => [names[index], MetricStat.Metric.Namespace]),
        ),
        missingData: Properties.TreatMissingData,
        toValue: (values) => calculate(names.map((name) => values[name])),
        isBreaching: (value) => compare(Properties.ComparisonOperator, value, Threshold),
      };
    },
  );
}

interface MetricRow {
  readonly Id: string;
  readonly Expression?: string;
  readonly MetricStat: {
    readonly Metric: {
      readonly Namespace: string;
      readonly MetricName: string;
      readonly Dimensions?: readonly { readonly Name: string; readonly Value: string }[];
    };
    readonly Period: number;
    readonly Stat: string;
  };
}

/** A metric counted in a log has its operation in its name, and Lambda's in a dimension. */
function toMetricName({ MetricStat: { Metric } }: MetricRow): string {
  const { MetricName, Dimensions = [] } = Metric;
  const owner = Dimensions.find(({ Name }) => owners.includes(Name))?.Value.replace(prefix, '');
  // One id may begin as another does.
  const [counting] = operationIds
    .filter((id) => MetricName.startsWith(id))
    .toSorted((one, other) => other.length - one.length);
  return counting
    ? `${counting} ${MetricName.slice(counting.length)}`
    : [owner, MetricName].filter(Boolean).join(' ');
}

function compare(operator: string, value: number, threshold: number): boolean {
  if (operator === 'GreaterThanOrEqualToThreshold') return value >= threshold;
  if (operator === 'LessThanOrEqualToThreshold') return value <= threshold;
  if (operator === 'LessThanThreshold') return value < threshold;
  throw new Error(`There is no comparison ${operator}.`);
}

/**
 * The part of CloudWatch's metric math that the alarms use. A result of a missing value is missing too.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
 * @returns a function of the values of the ids
 */
export function compile(
  ids: readonly string[],
  expression: string,
): (values: readonly (number | undefined)[]) => number {
  const parts = ids.map((id, index) => `const ${id} = values[${index}] ?? NaN;`);
  const body = `${parts.join('')} return ${expression};`;
  const calculate = new Function('values', 'IF', 'FILL', 'MAX', body);
  return (values) => calculate(values, IF, FILL, MAX);
}

const IF = (condition: boolean | number, one: number, other: number) => (condition ? one : other);
const MAX = (values: readonly number[]) => Math.max(...values);
const FILL = (value: number, otherwise: number) => (Number.isNaN(value) ? otherwise : value);
