import type { Stage } from '../stages/stages.ts';
import { readPrices } from './prices.ts';
import { readRecordedUnits, readSizes } from './units/responseUnits.ts';

/** What AWS bills by the month, as counted in a stage's templates. */
export type MetricCounts = Readonly<
  Record<'alarmMetrics' | 'compositeAlarms' | 'customMetrics', number>
>;

/** A stage whose templates were counted. */
export type PricedStage = Stage & { readonly metrics: MetricCounts };

/** All that the model calculates with, besides the traffic and a stage. */
export type Figures = ReturnType<typeof readFigures>;

/** @param stage for the sizes of its entries, and the prices of its region */
export function readFigures({ name, settings }: Stage) {
  const { prices } = readPrices(settings.region);
  return { units: readRecordedUnits(), sizes: readSizes(name), prices };
}

export interface Template {
  // biome-ignore lint/suspicious/noExplicitAny: a template is read as JSON.
  readonly Resources?: Readonly<Record<string, { readonly Type: string; Properties?: any }>>;
}

/**
 * A custom metric of errors, which a filter tells by their status, is billed only for the hours with one, and does not
 * count.
 */
export function countMetrics(templates: readonly Template[]): MetricCounts {
  const resources = templates.flatMap(({ Resources = {} }) => Object.values(Resources));
  const find = (type: string) =>
    resources.flatMap(({ Type, Properties }) => (Type === type ? [Properties] : []));
  const custom = find('AWS::Logs::MetricFilter')
    .filter(({ FilterPattern }) => !/\bstatus\b/.test(FilterPattern))
    .flatMap(({ MetricTransformations }) => MetricTransformations)
    .map(({ MetricName, Dimensions }) => `${MetricName} ${Dimensions?.[0].Key}`);
  const alarmMetrics = find('AWS::CloudWatch::Alarm')
    .map(({ Metrics }): number => {
      return Metrics?.filter((one: { MetricStat?: object }) => one.MetricStat).length ?? 1;
    })
    .reduce((sum, count) => sum + count, 0);
  const compositeAlarms = find('AWS::CloudWatch::CompositeAlarm').length;
  return { alarmMetrics, compositeAlarms, customMetrics: new Set(custom).size };
}
