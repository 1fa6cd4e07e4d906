import { type App, Duration, type RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import {
  BackupPlan,
  BackupPlanRule,
  BackupResource,
  BackupSelection,
  BackupVault,
} from 'aws-cdk-lib/aws-backup';
import { Schedule } from 'aws-cdk-lib/aws-events';
import {
  type NamedStage,
  toBackupStackName,
  toCopiesVaultName,
  toStackName,
  toTags,
} from '../stages/resourceNames.ts';
import type { Stage } from '../stages/stages.ts';
import { type DataTables, toKeptPolicy } from './dataTables.ts';

/**
 * A backup of the tables every night, copied to a vault in another region. The account must have switched
 * on what AWS Backup calls advanced features for DynamoDB, without which it makes no copies:
 * https://docs.aws.amazon.com/aws-backup/latest/devguide/advanced-ddb-backup.html
 *
 * A backup of DynamoDB is a whole one, at about $0.10 per GB and month in each region, and $0.02 per GB
 * taken to another (https://aws.amazon.com/backup/pricing/). So the one here, which point-in-time recovery
 * makes superfluous, goes after a day; with seven copies there, that is 8 * 0.10 + 30 * 0.02 = $1.40.
 */
export function defineBackupCopies(
  stack: Stack,
  stage: NamedStage,
  { inventory, pets, orders, apiKeys }: DataTables,
  region: string,
  removalPolicy: RemovalPolicy,
): void {
  const vault = new BackupVault(stack, 'Backups', {
    backupVaultName: toStackName(stage),
    removalPolicy,
  });
  const { partition, account } = stack;
  const copies = BackupVault.fromBackupVaultArn(
    stack,
    'Copies',
    `arn:${partition}:backup:${region}:${account}:backup-vault:${toCopiesVaultName(stage)}`,
  );
  const plan = new BackupPlan(stack, 'BackupPlan', {
    backupPlanName: toStackName(stage),
    backupVault: vault,
    backupPlanRules: [
      new BackupPlanRule({
        ruleName: 'nightly',
        scheduleExpression: Schedule.cron({ hour: '3', minute: '0' }),
        deleteAfter: Duration.days(1),
        copyActions: [{ destinationBackupVault: copies, deleteAfter: Duration.days(7) }],
      }),
    ],
  });
  // Answers to repeated updates are of use for a day alone.
  const selection = new BackupSelection(stack, 'BackupSelection', {
    backupPlan: plan,
    resources: [inventory, pets, orders, apiKeys].flatMap(({ tableArns: [inUse] }) =>
      inUse === undefined ? [] : BackupResource.fromArn(inUse),
    ),
  });
  Validations.of(selection).acknowledge({
    id: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSBackupServiceRolePolicyForBackup]',
    reason: "AWS Backup's own policy for the role that only it takes on.",
  });
}

/** The vault that copies of a deployment's tables lie in, which must outlive the region of the deployment. */
export function defineBackupStack(app: App, stage: Stage, region: string): Stack {
  const { account, protectsData } = stage.settings;
  const stack = new Stack(app, toBackupStackName(stage), {
    description: `Copies of the tables of the pet store's inventory service, ${stage.name}`,
    env: { ...(account && { account }), region },
    terminationProtection: protectsData,
    tags: toTags(stage),
  });
  new BackupVault(stack, 'Vault', {
    backupVaultName: toCopiesVaultName(stage),
    removalPolicy: toKeptPolicy(protectsData),
  });
  return stack;
}
