import { findRegion } from '../cli/stageOption.ts';
import type { Stage } from '../stages/stages.ts';
import { type PriceTable, readPrices, type UsageKind, usualRegion } from './prices.ts';

/** A stage with what AWS bills it for by the month, as counted in its templates, and with the prices of its region. */
export interface PricedStage extends Stage, PriceTable {
  readonly resources: Readonly<Partial<Record<UsageKind, number>>>;
  readonly region: string;
}

/** Builds the templates, which takes some seconds. */
export async function withPrices(stage: Stage): Promise<PricedStage> {
  const region = findRegion(stage).region ?? usualRegion;
  const table = readPrices(region);
  const { buildTemplates } = await import('../deploy/buildApp.ts');
  const resources = countResources(buildTemplates(stage));
  return { ...stage, ...table, resources, region };
}

interface Template {
  // biome-ignore lint/suspicious/noExplicitAny: a template is read as JSON.
  readonly Resources?: Readonly<Record<string, { readonly Type: string; Properties?: any }>>;
}

/**
 * An account's first three dashboards are free. A custom metric of errors, which a filter tells by their status, is
 * billed only for the hours with one, and does not count.
 */
export function countResources(templates: readonly Template[]): PricedStage['resources'] {
  const resources = templates.flatMap(({ Resources = {} }) => Object.values(Resources));
  const find = (type: string) =>
    resources.flatMap(({ Type, Properties }) => (Type === type ? [Properties ?? {}] : []));
  const custom = find('AWS::Logs::MetricFilter')
    .filter(({ FilterPattern }) => !/\bstatus\b/.test(FilterPattern))
    .flatMap(({ MetricTransformations }) => MetricTransformations)
    .map(({ MetricName, Dimensions }) => `${MetricName} ${Dimensions?.[0].Key}`);
  const alarmMetrics = find('AWS::CloudWatch::Alarm').flatMap(
    ({ Metrics }) => Metrics?.filter((one: { MetricStat?: object }) => one.MetricStat) ?? [1],
  );
  const firewalls = find('AWS::WAFv2::WebACL');
  return {
    alarmMetrics: alarmMetrics.length,
    compositeAlarms: find('AWS::CloudWatch::CompositeAlarm').length,
    customMetrics: new Set(custom).size,
    encryptionKeys: find('AWS::KMS::Key').length,
    firewalls: firewalls.length,
    firewallRules: firewalls.flatMap(({ Rules = [] }) => Rules).length,
  };
}
