import { type App, Stack } from 'aws-cdk-lib';
import { defineCustomDomain } from './customDomain.ts';
import { defineDataTables } from './dataTables.ts';
import { defineFirewall } from './firewall.ts';
import { defineLiveAliases } from './gradualDeployment.ts';
import { defineOperationFunctions } from './operationFunctions.ts';
import { defineOutputs } from './outputs.ts';
import { defineRestApi } from './restApi.ts';
import { type StageName, type StageSettings, toStackName } from './stages.ts';

/** One deployment of the service. */
export function definePetstoreStack(app: App, stage: StageName, settings: StageSettings): Stack {
  const { account, region, customDomain } = settings;
  const stack = new Stack(app, toStackName(stage), {
    description: `The pet store's inventory service, ${stage}`,
    env: { ...(account && { account }), ...(region && { region }) },
    terminationProtection: settings.protectsData,
    // Cost reports can be split by these.
    tags: { service: 'petstore', stage },
  });
  const tables = defineDataTables(stack, stage, settings);
  const functions = defineOperationFunctions(stack, stage, settings, tables);
  const aliases = defineLiveAliases(stack, stage, settings, functions);
  const api = defineRestApi(stack, stage, settings, aliases);
  if (customDomain) defineCustomDomain(stack, api, customDomain);
  if (settings.firewall) defineFirewall(stack, stage, api);
  defineOutputs(stack, settings, api, tables);
  return stack;
}
