import { type App, Stack } from 'aws-cdk-lib';
import { defineDataTables } from './dataTables.ts';
import { defineOperationFunctions } from './operationFunctions.ts';
import { defineOutputs } from './outputs.ts';
import { defineRestApi } from './restApi.ts';
import { type StageName, stages, toStackName } from './stages.ts';

/** One deployment of the service. */
export function definePetstoreStack(app: App, stage: StageName): Stack {
  const settings = stages[stage];
  const stack = new Stack(app, toStackName(stage), {
    description: `The pet store's inventory service, ${stage}`,
    terminationProtection: settings.protectsData,
    // Cost reports can be split by these.
    tags: { service: 'petstore', stage },
  });
  const tables = defineDataTables(stack, settings);
  const functions = defineOperationFunctions(stack, settings, tables);
  const api = defineRestApi(stack, settings, functions);
  defineOutputs(stack, api, tables);
  return stack;
}
