import { join } from 'node:path';
import { buildApp } from '../../infra/buildApp.ts';
import { toStackName } from '../../infra/stages.ts';
import { type OperationId, operations } from '../../shared/contract/operations.ts';
import { operationIds } from './buildFile.ts';

/** The path of each operation's bundle, as a deployment uploads it. */
export function synthesizeBundles(outdir: string): Record<OperationId, string> {
  const stackName = toStackName('staging');
  const context = { 'aws:cdk:bundling-stacks': [stackName], 'aws:cdk:enable-asset-metadata': true };
  const { template } = buildApp({ outdir, context }).synth().getStackByName(stackName);
  const functions = Object.values(template.Resources as Record<string, CfnFunction>).filter(
    ({ Type }) => Type === 'AWS::Lambda::Function',
  );
  const toBundle = (id: OperationId) => {
    const asset = functions.find(
      ({ Properties }) => Properties.Description === operations[id].summary,
    )?.Metadata?.['aws:asset:path'];
    if (asset === undefined) throw new Error(`The stack holds no bundle of ${id}.`);
    return [id, join(outdir, asset, 'index.js')];
  };
  return Object.fromEntries(operationIds.map(toBundle));
}

interface CfnFunction {
  readonly Type: string;
  readonly Properties: { readonly Description?: string };
  readonly Metadata?: Record<string, string>;
}
