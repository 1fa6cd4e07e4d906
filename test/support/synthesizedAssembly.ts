import { existsSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { buildApp } from '../../infra/buildApp.ts';
import { toStackName } from '../../infra/stages.ts';
import { type OperationId, operations } from '../../shared/contract/operations.ts';
import { readVariable } from '../../shared/runtime/environment.ts';

let bundles: Promise<Record<OperationId, string>> | undefined;

/**
 * The path of each operation's bundled `index.js`, as a deployment would upload it. The stacks are
 * synthesized once per process.
 */
export function synthesizeBundles(): Promise<Record<OperationId, string>> {
  bundles ??= Promise.resolve().then(synthesize);
  return bundles;
}

function synthesize(): Record<OperationId, string> {
  const folder = mkdtempSync(`${readVariable('ASSEMBLY_FOLDER')}/`);
  // The stages share their code, so one of them is enough.
  const stackName = toStackName('staging');
  const context = {
    'aws:cdk:bundling-stacks': [stackName],
    'aws:cdk:enable-asset-metadata': true,
  };
  const { template } = buildApp({ outdir: folder, context }).synth().getStackByName(stackName);
  const functions = Object.values(template.Resources as Record<string, CfnFunction>).filter(
    ({ Type }) => Type === 'AWS::Lambda::Function',
  );
  const toBundle = (id: OperationId) => {
    const asset = functions.find(
      ({ Properties }) => Properties.Description === operations[id].summary,
    )?.Metadata['aws:asset:path'];
    const path = join(folder, String(asset), 'index.js');
    if (!existsSync(path)) throw new Error(`The stack holds no bundle of ${id}.`);
    return path;
  };
  return {
    listInventory: toBundle('listInventory'),
    updateInventory: toBundle('updateInventory'),
    getPet: toBundle('getPet'),
    listOrders: toBundle('listOrders'),
  };
}

interface CfnFunction {
  readonly Type: string;
  readonly Properties: { readonly Description?: string };
  readonly Metadata: Record<string, string>;
}
