import { type App, Stack } from 'aws-cdk-lib';
import { defineBackupCopies } from './backup/backupCopies.ts';
import { defineCustomDomain } from './gateway/customDomain.ts';
import { defineFirewall } from './gateway/firewall.ts';
import { defineRestApi } from './gateway/restApi.ts';
import { defineTraceSampling } from './gateway/traceSampling.ts';
import { defineDataTables } from './service/dataTables.ts';
import { defineLiveAliases } from './service/gradualDeployment.ts';
import { defineOperationFunctions } from './service/operationFunctions.ts';
import { defineOutputs } from './service/outputs.ts';
import { toStackName, toTags } from './stages/resourceNames.ts';
import type { Stage } from './stages/stages.ts';

/**
 * One deployment of the service.
 * @param commit what it is made of, by which ops tell what is live
 */
export function definePetstoreStack(app: App, stage: Stage, commit: string): Stack {
  const { account, region, backupRegion, customDomain, firewall, protectsData } = stage.settings;
  const stack = new Stack(app, toStackName(stage), {
    description: `The pet store's inventory service, ${stage.name}`,
    env: { ...(account && { account }), ...(region && { region }) },
    terminationProtection: protectsData,
    tags: toTags(stage),
  });
  const tables = defineDataTables(stack, stage);
  if (backupRegion) defineBackupCopies(stack, stage, tables, backupRegion);
  const functions = defineOperationFunctions(stack, stage, tables, commit);
  const aliases = defineLiveAliases(stack, stage, functions);
  const api = defineRestApi(stack, stage, aliases);
  defineTraceSampling(stack, stage);
  if (customDomain) defineCustomDomain(stack, api, customDomain);
  if (firewall) defineFirewall(stack, stage, api);
  defineOutputs(stack, stage, api, tables, commit);
  return stack;
}
