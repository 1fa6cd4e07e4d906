import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Template } from 'aws-cdk-lib/assertions';
import { buildApp } from '../../infra/buildApp.ts';
import { type StageName, toStackName } from '../../infra/stages.ts';

// Outside the checkout, and without the functions' bundles, which take longer than all the rest.
const outdir = mkdtempSync(join(tmpdir(), 'petstore-templates-'));
const assembly = buildApp({ outdir, context: { 'aws:cdk:bundling-stacks': [] } }).synth();

/** A deployment's synthesized template; the functions' code in it is not real. */
export const templates: Record<StageName, Template> = {
  staging: toTemplate('staging'),
  production: toTemplate('production'),
};

rmSync(outdir, { recursive: true, force: true });

export const stageNames = Object.keys(templates) as StageName[];

export interface CfnResource {
  // biome-ignore lint/suspicious/noExplicitAny: a template is read as the JSON that it is.
  readonly Properties: any;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
}

/** The resources of a type, by logical id. */
export function findResources(stage: StageName, type: string): Record<string, CfnResource> {
  return templates[stage].findResources(type) as Record<string, CfnResource>;
}

function toTemplate(stage: StageName): Template {
  return Template.fromJSON(assembly.getStackByName(toStackName(stage)).template);
}
