import { type App, Duration, Stack, Validations } from 'aws-cdk-lib';
import {
  BackupPlan,
  BackupPlanRule,
  BackupResource,
  BackupSelection,
  BackupVault,
} from 'aws-cdk-lib/aws-backup';
import { Schedule } from 'aws-cdk-lib/aws-events';
import { buildStackProps, toNames } from '../../stages/resourceNames.ts';
import type { Stage } from '../../stages/stages.ts';
import { tableNames } from '../../stages/tables.ts';
import { chooseRemovalPolicy, type DataTables } from './dataTables.ts';

/**
 * Backs up the tables every night and copies the backup to a vault in another region. The account must have advanced
 * features for DynamoDB switched on; without them, AWS Backup makes no copies:
 * https://docs.aws.amazon.com/aws-backup/latest/devguide/advanced-ddb-backup.html
 *
 * Every DynamoDB backup is a full one. It costs about $0.10 per GB and month in each region, and $0.02 per GB copied
 * (https://aws.amazon.com/backup/pricing/). Point-in-time recovery makes the backup in this region redundant, so it is
 * deleted after a day. With seven copies there, a GB costs 8 * 0.10 + 30 * 0.02 = $1.40 a month.
 */
export function defineBackupCopies(
  stack: Stack,
  stage: Stage,
  tables: DataTables,
  region: string,
): void {
  const { stack: name, copiesVault } = toNames(stage);
  const vault = new BackupVault(stack, 'Backups', {
    backupVaultName: name,
    removalPolicy: chooseRemovalPolicy(stage),
  });
  const { partition, account } = stack;
  const copies = BackupVault.fromBackupVaultArn(
    stack,
    'Copies',
    `arn:${partition}:backup:${region}:${account}:backup-vault:${copiesVault}`,
  );
  const plan = new BackupPlan(stack, 'BackupPlan', {
    backupPlanName: name,
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
  const selection = new BackupSelection(stack, 'BackupSelection', {
    backupPlan: plan,
    // Without a table that a restored one replaces.
    resources: tableNames.flatMap((name) =>
      tables[name].tableArns.slice(0, 1).map(BackupResource.fromArn),
    ),
  });
  Validations.of(selection).acknowledge({
    id: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSBackupServiceRolePolicyForBackup]',
    reason: "AWS Backup's own policy, for a role that only AWS Backup assumes.",
  });
}

/** The stack with the vault for copies of a deployment's tables. It must outlive the deployment's region. */
export function defineBackupStack(app: App, stage: Stage, region: string): Stack {
  const { backupStack, copiesVault } = toNames(stage);
  const stack = new Stack(app, backupStack, {
    description: `Copies of the tables of the pet store's inventory service, ${stage.name}`,
    ...buildStackProps(stage, region),
  });
  new BackupVault(stack, 'Vault', {
    backupVaultName: copiesVault,
    removalPolicy: chooseRemovalPolicy(stage),
  });
  return stack;
}
