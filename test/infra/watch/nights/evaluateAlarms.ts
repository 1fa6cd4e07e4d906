import { type Minute, readMetric, type TemplateMetric } from './minutes.ts';

/** An alarm that fired. */
export interface FiredAlarm {
  /** Without the stage. */
  readonly name: string;
  readonly severity: 'Page' | 'Ticket';
  /** After how many minutes; it is looked at as each of its periods ends. */
  readonly minute: number;
}

// biome-ignore lint/suspicious/noExplicitAny: a template is read as the JSON that it is
type AlarmProperties = any;

/** The first time that each alarm fires in the course of the minutes, as CloudWatch evaluates it. */
export function evaluateAlarms(
  alarms: readonly AlarmProperties[],
  minutes: readonly Minute[],
): FiredAlarm[] {
  return alarms.flatMap((alarm) => {
    const minute = findFiring(alarm, minutes);
    const [severity = ''] = alarm.AlarmDescription.split(':');
    const name = alarm.AlarmName.replace('petstore-production-', '');
    return minute === undefined
      ? []
      : [{ name, severity: severity as FiredAlarm['severity'], minute }];
  });
}

function findFiring(alarm: AlarmProperties, minutes: readonly Minute[]): number | undefined {
  const { EvaluationPeriods, DatapointsToAlarm = EvaluationPeriods, Threshold } = alarm;
  const length = toPeriod(alarm) / 60;
  const isBreaching = comparisons[alarm.ComparisonOperator];
  if (!isBreaching) throw new Error(`There is no comparison ${alarm.ComparisonOperator}.`);
  const breaches: boolean[] = [];
  for (let start = 0; start + length <= minutes.length; start += length) {
    const value = toValue(alarm, minutes.slice(start, start + length));
    const isMissing = value === undefined || Number.isNaN(value);
    if (isMissing) breaches.push(alarm.TreatMissingData === 'breaching');
    else breaches.push(isBreaching(value, Threshold));
    const last = breaches.slice(-EvaluationPeriods);
    if (last.filter(Boolean).length >= DatapointsToAlarm) return start + length;
  }
  return undefined;
}

const comparisons: Record<string, (value: number, threshold: number) => boolean> = {
  GreaterThanOrEqualToThreshold: (value, threshold) => value >= threshold,
  LessThanOrEqualToThreshold: (value, threshold) => value <= threshold,
  LessThanThreshold: (value, threshold) => value < threshold,
};

function toPeriod({ Period, Metrics = [] }: AlarmProperties): number {
  const stats = Metrics.flatMap(({ MetricStat }: AlarmProperties) => MetricStat?.Period ?? []);
  return Period ?? stats[0];
}

function toValue(alarm: AlarmProperties, period: readonly Minute[]): number | undefined {
  if (!alarm.Metrics) {
    return readMetric(alarm as TemplateMetric, alarm.Statistic ?? alarm.ExtendedStatistic, period);
  }
  const [{ Id: returned, Expression = returned }] = alarm.Metrics.filter(
    ({ ReturnData = true }) => ReturnData,
  );
  const stats = alarm.Metrics.filter(({ MetricStat }: AlarmProperties) => MetricStat);
  const values = stats.map(({ MetricStat: { Metric, Stat } }: AlarmProperties) =>
    readMetric(Metric, Stat, period),
  );
  const ids = stats.map(({ Id }: AlarmProperties) => Id);
  return compile(`${ids}`, Expression)(...values.map((value = Number.NaN) => value), IF, FILL);
}

type Calculation = (...values: unknown[]) => number;
const compiled = new Map<string, Calculation>();

/**
 * The part of CloudWatch's metric math that the alarms use. What is calculated with a value that is
 * missing is missing too.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
 */
function compile(ids: string, expression: string): Calculation {
  const calculation =
    compiled.get(ids + expression) ??
    (new Function(...ids.split(','), 'IF', 'FILL', `return ${expression};`) as Calculation);
  compiled.set(ids + expression, calculation);
  return calculation;
}

const IF = (condition: boolean | number, one: number, other: number) => (condition ? one : other);
const FILL = (value: number, otherwise: number) => (Number.isNaN(value) ? otherwise : value);
