import { type App, Stack } from 'aws-cdk-lib';
import { BackupVault } from 'aws-cdk-lib/aws-backup';
import { toKeptPolicy } from '../service/keptPolicy.ts';
import { toBackupStackName, toCopiesVaultName, toTags } from '../stages/resourceNames.ts';
import type { Stage } from '../stages/stages.ts';

/** The vault that copies of a deployment's tables lie in, which must outlive the region of the deployment. */
export function defineBackupStack(app: App, stage: Stage, region: string): Stack {
  const { account } = stage.settings;
  const stack = new Stack(app, toBackupStackName(stage), {
    description: `Copies of the tables of the pet store's inventory service, ${stage.name}`,
    env: { ...(account && { account }), region },
    terminationProtection: stage.settings.protectsData,
    tags: toTags(stage),
  });
  new BackupVault(stack, 'Vault', {
    backupVaultName: toCopiesVaultName(stage),
    removalPolicy: toKeptPolicy(stage.settings),
  });
  return stack;
}
