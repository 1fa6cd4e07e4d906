import { type App, CfnOutput, Stack } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import { StringParameter } from 'aws-cdk-lib/aws-ssm';
import { apiVersion } from '../../shared/contract/operation.ts';
import { mapOperations } from '../../shared/contract/operations.ts';
import { findBaseAddress } from '../stages/addresses.ts';
import { toReservedConcurrency } from '../stages/concurrency.ts';
import {
  toApiName,
  toBaseAddressParameter,
  toStackName,
  toTableOutput,
  toTags,
} from '../stages/resourceNames.ts';
import type { Stage } from '../stages/stages.ts';
import { defineBackupCopies } from './backups.ts';
import { type DataTables, defineDataTables, toKeptPolicy } from './dataTables.ts';
import { defineFirewall, explainNoFirewall } from './firewall.ts';
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
  const { account, region, backupRegion, customDomain, protectsData } = settings;
  const { allowedOrigins, documentationAddress, logLevel, logRetentionDays } = settings;
  const stack = new Stack(app, toStackName(stage), {
    description: `The pet store's inventory service, ${name}`,
    env: { ...(account && { account }), ...(region && { region }) },
    terminationProtection: protectsData,
    tags: toTags(stage),
  });
  const named = { name };
  const removalPolicy = toKeptPolicy(protectsData);
  const tables = defineDataTables(stack, named, settings);
  if (backupRegion) defineBackupCopies(stack, named, tables, backupRegion, removalPolicy);
  const functions = defineOperationFunctions(stack, named, tables, commit, {
    allowedOrigins,
    documentationAddress,
    logLevel,
    logRetentionDays,
    memoryMegabytes: settings.memoryMegabytes,
    reservedConcurrency: mapOperations((id) => toReservedConcurrency(settings, id)),
    removalPolicy,
  });
  const aliases = defineLiveAliases(stack, named, functions, settings.rollout);
  const { throttles } = settings;
  const api = defineRestApi(stack, named, aliases, {
    allowedOrigins,
    logRetentionDays,
    throttles,
    removalPolicy,
  });
  defineTraceSampling(stack, toApiName(named), settings.tracing, place);
  if (customDomain) defineCustomDomain(stack, api, customDomain);
  if (settings.firewall) defineFirewall(stack, toApiName(named), api);
  else explainNoFirewall(api);
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
    parameterName: toBaseAddressParameter({ name: stage.name }),
    description,
    stringValue: baseAddress,
  });
  for (const [name, table] of Object.entries(tables)) {
    new CfnOutput(stack, toTableOutput(name), { value: table.tableName });
  }
}
