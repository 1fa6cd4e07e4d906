import { type App, CfnOutput, Stack } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import { StringParameter } from 'aws-cdk-lib/aws-ssm';
import { apiVersion } from '../../shared/contract/operation.ts';
import { findBaseAddress } from '../stages/addresses.ts';
import { toNames, toStackProps, toTableOutput } from '../stages/resourceNames.ts';
import type { Stage } from '../stages/stages.ts';
import { defineBackupCopies } from './backups.ts';
import { type DataTables, defineDataTables } from './dataTables.ts';
import { defineFirewall } from './firewall.ts';
import { defineLiveAliases } from './gradualDeployment.ts';
import { defineOperationFunctions } from './operationFunctions.ts';
import { defineCustomDomain, defineRestApi, defineTraceSampling } from './restApi.ts';

/**
 * One deployment of the service.
 * @param commit of the code; commands read it to say what is live
 * @param place the stage's index among all stages
 */
export function defineServiceStack(app: App, stage: Stage, commit: string, place: number): Stack {
  const { name, settings } = stage;
  const { backupRegion, customDomain } = settings;
  const names = toNames(stage);
  const stack = new Stack(app, names.stack, {
    description: `The pet store's inventory service, ${name}`,
    ...toStackProps(stage),
  });
  const tables = defineDataTables(stack, stage);
  if (backupRegion) defineBackupCopies(stack, stage, tables, backupRegion);
  const functions = defineOperationFunctions(stack, stage, tables, commit);
  const aliases = defineLiveAliases(stack, stage, functions, tables);
  const api = defineRestApi(stack, stage, aliases);
  defineTraceSampling(stack, stage, place);
  if (customDomain) defineCustomDomain(stack, api, customDomain);
  defineFirewall(stack, names.api, api, settings);
  defineOutputs(stack, stage, api, tables);
  return stack;
}

/**
 * The base address and the names of the tables: a deployment prints them, commands and the scheduled check read them.
 */
function defineOutputs(stack: Stack, stage: Stage, api: RestApi, tables: DataTables): void {
  // The gateway's own URL ends in a slash.
  const ofGateway = `https://${api.restApiId}.execute-api.${stack.region}.${stack.urlSuffix}/${apiVersion}`;
  const baseAddress = findBaseAddress(stage.settings) ?? ofGateway;
  const description = 'The base address of all paths of the contract';
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
