import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { buildApp } from '../../infra/buildApp.ts';
import { toFunctionName, toStackName } from '../../infra/stages/resourceNames.ts';
import { mapOperations, type OperationId } from '../../shared/contract/operations.ts';
import { fixtures } from './stageFixtures.ts';

/** Synthesizes into a folder. @returns each operation's `index.mjs`, as a deployment would upload it */
export function synthesizeBundlesInto(outdir: string): Record<OperationId, string> {
  // All stages have the same code.
  const stage = fixtures.staging;
  const stackName = toStackName(stage);
  const context = { 'aws:cdk:bundling-stacks': [stackName], 'aws:cdk:enable-asset-metadata': true };
  const { template } = buildApp({ outdir, context }, [stage]).synth().getStackByName(stackName);
  const functions = Object.values(template.Resources as Record<string, CfnFunction>).filter(
    ({ Type }) => Type === 'AWS::Lambda::Function',
  );
  return mapOperations((id) => {
    const built = functions.find(
      ({ Properties }) => Properties.FunctionName === toFunctionName(stage, id),
    );
    const path = join(outdir, String(built?.Metadata['aws:asset:path']), 'index.mjs');
    if (!existsSync(path)) throw new Error(`The stack holds no bundle of ${id}.`);
    return path;
  });
}

interface CfnFunction {
  readonly Type: string;
  readonly Properties: { readonly FunctionName?: string };
  readonly Metadata: Record<string, string>;
}
