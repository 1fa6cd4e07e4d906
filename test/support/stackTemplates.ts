import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Template } from 'aws-cdk-lib/assertions';
import { buildApp, templatesOnly } from '../../infra/deploy/buildApp.ts';
import { toNames } from '../../infra/stages/resourceNames.ts';
import type { StageSettings } from '../../infra/stages/stageSettings.ts';
import type { Stage } from '../../infra/stages/stages.ts';
import { changedSettings, changeProduction, type FixtureName, fixtures } from './stageFixtures.ts';

/** The templates of one deployment; the functions' code in them is not real. */
export interface StageTemplates {
  readonly service: Template;
  readonly watch: Template;
}

/** A stack as it was written, before the folder is removed. */
export interface BuiltStack {
  readonly name: string;
  readonly after: readonly string[];
  readonly template: Readonly<Record<'Resources' | 'Outputs', Record<string, object> | undefined>>;
}
interface BuiltStage extends StageTemplates {
  /** In the order of their deployment. */
  readonly stacks: readonly BuiltStack[];
}

export const builtCommit = '0123456789ab';

/** Once a process. The hash of the code depends on which stage is built first: production, as where it is built alone. */
export const built = synthesizeStages([fixtures.production, fixtures.staging]);

export const templates = { staging: built.staging.service, production: built.production.service };
export const watchTemplates = { staging: built.staging.watch, production: built.production.watch };

export interface CfnResource {
  // biome-ignore lint/suspicious/noExplicitAny: a template is read as JSON.
  readonly Properties: any;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
}

export function findResources(stage: FixtureName, type: string): Record<string, CfnResource> {
  return templates[stage].findResources(type) as Record<string, CfnResource>;
}

/** The properties of a template's resources of a type. */
export function findProperties(template: Template, type: string): CfnResource['Properties'][] {
  return Object.values(template.findResources(type)).map(({ Properties }) => Properties);
}

interface Widget {
  readonly title: string;
  /** Namespace, name, dimensions with values, then options; or only an expression. */
  readonly metrics?: readonly (string | Readonly<Record<string, string>>)[][];
  readonly query?: string;
  readonly alarms?: unknown;
}

/** The widgets of a stage's dashboards, by their names. */
export function readDashboards(template: Template): Record<string, Widget[]> {
  const found = Object.values(template.findResources('AWS::CloudWatch::Dashboard'));
  return Object.fromEntries(
    found.map(({ Properties: { DashboardName, DashboardBody } }) => {
      const [separator, parts] = DashboardBody['Fn::Join'];
      const text = parts.map((part: unknown) => (typeof part === 'string' ? part : 'eu-west-1'));
      const { widgets } = JSON.parse(text.join(separator));
      return [DashboardName, widgets.map(({ properties }: { properties: Widget }) => properties)];
    }),
  );
}

/**
 * A line of a stage's access log, filled as the gateway does.
 * @param toValue the text of a variable; by default its name
 * @throws {SyntaxError} if the line is not JSON
 */
export function fillAccessLog(
  stage: FixtureName,
  toValue = (variable: string) => variable,
): Record<string, unknown> {
  const [gateway] = Object.values(findResources(stage, 'AWS::ApiGateway::Stage'));
  const format: string = gateway?.Properties.AccessLogSetting.Format;
  return JSON.parse(format.replaceAll(/\$context\.[\w.]+/g, toValue));
}

let changed: StageTemplates | undefined;

/** Production with every setting changed or left out; built once a process. */
export function changedProduction(): StageTemplates {
  changed ??= synthesizeProduction(changedSettings);
  return changed;
}

/** Production with some settings changed, or deployed from another commit. */
export function synthesizeProduction(
  changes: Partial<StageSettings>,
  commit?: string,
): StageTemplates {
  return synthesizeStages([changeProduction(changes)], commit).production;
}

export function synthesizeStages(
  deployments: readonly Stage[],
  commit: string = builtCommit,
): Record<FixtureName, BuiltStage> {
  // Outside the checkout.
  const outdir = mkdtempSync(join(tmpdir(), 'petstore-templates-'));
  try {
    const assembly = buildApp({ ...templatesOnly, outdir }, deployments, commit).synth();
    const toTemplate = (name: string) => Template.fromJSON(assembly.getStackByName(name).template);
    const toStage = (stage: Stage): BuiltStage => {
      const { stack, watchStack } = toNames(stage);
      const own = assembly.stacks.filter(({ stackName }) =>
        `${stackName}-`.startsWith(`${stack}-`),
      );
      const stacks = own.map(({ stackName, dependencies, template }) => ({
        name: stackName,
        after: dependencies.map(({ id }) => id).sort(),
        template,
      }));
      return { service: toTemplate(stack), watch: toTemplate(watchStack), stacks };
    };
    return Object.fromEntries(deployments.map((stage) => [stage.name, toStage(stage)])) as Record<
      FixtureName,
      BuiltStage
    >;
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
}
