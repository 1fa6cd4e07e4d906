import { type App, CfnOutput, Stack } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import { StringParameter } from 'aws-cdk-lib/aws-ssm';
import { apiVersion } from '../../../shared/contract/operation.ts';
import { mapOperations } from '../../../shared/contract/operations.ts';
import { findBaseAddress } from '../../stages/addresses.ts';
import type { Release } from '../../stages/commit.ts';
import { buildStackProps, toNames, toTableOutput } from '../../stages/resourceNames.ts';
import type { Stage } from '../../stages/stages.ts';
import { defineBackupCopies } from './backups.ts';
import { type DataTables, defineDataTables } from './dataTables.ts';
import { defineFirewall } from './firewall.ts';
import { defineLiveAliases, type LiveAliases } from './gradualDeployment.ts';
import { defineOperationFunctions, type OperationFunctions } from './operationFunctions.ts';
import { defineCustomDomain, defineRestApi, defineTraceSampling } from './restApi.ts';

/**
 * @param commit of the code; commands read it to say what is live
 * @param index of the stage among all stages
 */
export function defineServiceStack(app: App, stage: Stage, commit: string, index: number): Stack {
  const { name, settings } = stage;
  const { backupRegion, customDomain } = settings;
  const names = toNames(stage);
  const stack = new Stack(app, names.stack, {
    description: `The pet store's inventory service, ${name}`,
    ...buildStackProps(stage),
  });
  const tables = defineDataTables(stack, stage);
  if (backupRegion) defineBackupCopies(stack, stage, tables, backupRegion);
  const functions = defineOperationFunctions(stack, stage, tables);
  const aliases = defineLiveAliases(stack, stage, functions, tables);
  const api = defineRestApi(stack, stage, aliases);
  defineTraceSampling(stack, stage, index);
  if (customDomain) defineCustomDomain(stack, api, customDomain);
  defineFirewall(stack, stage, api);
  defineOutputs(stack, stage, api, tables);
  defineRelease(stack, stage, commit, functions, aliases);
  return stack;
}

/**
 * The commit, and the digests of its functions, written after requests have moved to them. The parameter's history has
 * the last 100 releases. A commit that changes no function changes nothing else.
 */
function defineRelease(
  stack: Stack,
  stage: Stage,
  commit: string,
  functions: OperationFunctions,
  aliases: LiveAliases,
): void {
  const release: Release = { commit, digests: mapOperations((id) => functions[id].digest) };
  new CfnOutput(stack, 'Commit', { description: 'The deployed commit', value: commit });
  new StringParameter(stack, 'Release', {
    parameterName: toNames(stage).releaseParameter,
    description: 'The deployed commit, with the digest of each function',
    stringValue: JSON.stringify(release),
  }).node.addDependency(...Object.values(aliases));
}

/** A deployment prints them, and commands and the scheduled check read them. */
function defineOutputs(stack: Stack, stage: Stage, api: RestApi, tables: DataTables): void {
  // The gateway's own URL ends in a slash.
  const ofGateway = `https://${api.restApiId}.execute-api.${stack.region}.${stack.urlSuffix}/${apiVersion}`;
  const baseAddress = findBaseAddress(stage.settings) ?? ofGateway;
  const description = 'The base URL of all paths of the contract';
  new CfnOutput(stack, 'BaseUrl', { description, value: baseAddress });
  new StringParameter(stack, 'BaseAddress', {
    parameterName: toNames(stage).baseAddressParameter,
    description,
    stringValue: baseAddress,
  });
  for (const [name, table] of Object.entries(tables)) {
    new CfnOutput(stack, toTableOutput(name), { value: table.tableName });
  }
}
