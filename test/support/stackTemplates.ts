import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Template } from 'aws-cdk-lib/assertions';
import { buildApp } from '../../infra/buildApp.ts';
import { type StageName, type StageSettings, stages, toStackName } from '../../infra/stages.ts';

/** The templates of one deployment; the functions' code in them is not real. */
export interface StageTemplates {
  readonly service: Template;
  readonly watch: Template;
}

const built = synthesizeStages(stages);

/** Each deployment's service stack, as the settings have it. */
export const templates: Record<StageName, Template> = {
  staging: built.staging.service,
  production: built.production.service,
};

/** Each deployment's watch stack, as the settings have it. */
export const watchTemplates: Record<StageName, Template> = {
  staging: built.staging.watch,
  production: built.production.watch,
};

export const stageNames = Object.keys(templates) as StageName[];

export interface CfnResource {
  // biome-ignore lint/suspicious/noExplicitAny: a template is read as the JSON that it is.
  readonly Properties: any;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
}

/** The resources of a type in the service stack, by logical id. */
export function findResources(stage: StageName, type: string): Record<string, CfnResource> {
  return templates[stage].findResources(type) as Record<string, CfnResource>;
}

/** What production would be with some of its settings changed. */
export function synthesizeProduction(changed: Partial<StageSettings>): StageTemplates {
  return synthesizeStages({ production: { ...stages.production, ...changed } }).production;
}

function synthesizeStages<Name extends StageName>(
  settings: Record<Name, StageSettings>,
): Record<Name, StageTemplates> {
  // Outside the checkout, and without the functions' bundles, which take longer than all the rest.
  const outdir = mkdtempSync(join(tmpdir(), 'petstore-templates-'));
  try {
    const context = { 'aws:cdk:bundling-stacks': [] };
    const assembly = buildApp({ outdir, context }, settings).synth();
    const toTemplate = (name: string) => Template.fromJSON(assembly.getStackByName(name).template);
    const toTemplates = (stage: Name) => ({
      service: toTemplate(toStackName(stage)),
      watch: toTemplate(`${toStackName(stage)}-watch`),
    });
    const names = Object.keys(settings) as Name[];
    return Object.fromEntries(names.map((name) => [name, toTemplates(name)])) as Record<
      Name,
      StageTemplates
    >;
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
}
