import { watchTemplates } from '../../support/stackTemplates.ts';
import type { FixtureName } from '../../support/stageFixtures.ts';

/** A metric as a dashboard names it: namespace, name, then dimensions and their values. */
export type DashboardMetric = readonly string[];

export interface DashboardExpression {
  readonly expression: string;
  readonly label: string;
}

export interface DashboardWidget {
  readonly title: string;
  readonly properties: Readonly<Record<string, unknown>>;
  /** By the ids that expressions know them by; those without one, by their place. */
  readonly metrics: ReadonlyMap<string, DashboardMetric>;
  readonly expressions: readonly DashboardExpression[];
}

/** The widgets of a stage's only dashboard. */
export function readWidgets(stage: FixtureName): DashboardWidget[] {
  const [dashboard] = Object.values(
    watchTemplates[stage].findResources('AWS::CloudWatch::Dashboard'),
  );
  const [separator, parts] = dashboard?.Properties.DashboardBody['Fn::Join'] ?? [];
  const text = parts.map((part: unknown) => (typeof part === 'string' ? part : 'eu-west-1'));
  const { widgets } = JSON.parse(text.join(separator));
  return widgets.map(({ properties }: { properties: Record<string, unknown> }) => {
    const rows = (properties.metrics ?? []) as (string | { id?: string })[][];
    const metrics = new Map<string, DashboardMetric>();
    const expressions: DashboardExpression[] = [];
    for (const [place, row] of rows.entries()) {
      const options = row.find((part) => typeof part === 'object') ?? {};
      const names = row.filter((part) => typeof part === 'string');
      if (names.length > 0) metrics.set(options.id ?? String(place), names);
      else expressions.push(options as DashboardExpression);
    }
    return { title: String(properties.title), properties, metrics, expressions };
  });
}
