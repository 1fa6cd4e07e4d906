import type { OperationId } from '../../shared/contract/operations.ts';
import type { Stage } from './stages.ts';
import type { TableName } from './tables.ts';

// Fixed names, and not ones that CloudFormation makes up: the watch stack finds what it watches without
// exports, which would bind the service stack to it; a retained table or log can be taken over by a new
// stack (`--import-existing-resources`); and no change can replace a table unnoticed.

/** What names are made of. */
export type NamedStage = Pick<Stage, 'name'>;

/** The CloudFormation stack of a deployment. */
export function toStackName({ name }: NamedStage): `petstore-${Stage['name']}` {
  return `petstore-${name}`;
}

/** The tags of all that a deployment is made of; the account's bill can be split by them. */
export function toTags({
  name,
  settings: { owner },
}: Stage): Record<'service' | 'stage' | 'owner', string> {
  return { service: 'petstore', stage: name, owner };
}

/** The stack of what watches a deployment. */
export function toWatchStackName(stage: NamedStage): string {
  return `${toStackName(stage)}-watch`;
}

/** The stack, in another region, of the vault that copies of a deployment's tables lie in. */
export function toBackupStackName(stage: NamedStage): string {
  return `${toStackName(stage)}-backup`;
}

/** The vault of those copies. The nightly backups that they are made of lie in one named as the service. */
export function toCopiesVaultName(stage: NamedStage): string {
  return `${toStackName(stage)}-copies`;
}

/** The function that calls a deployment from outside. */
export function toCheckName(stage: NamedStage): string {
  return `${toStackName(stage)}-check`;
}

/** Where that function's read key lies, encrypted, in the Parameter Store. */
export function toCheckKeyParameter(stage: NamedStage): string {
  return `/${toStackName(stage)}/check-key`;
}

/** Where the stage's base address lies, in the Parameter Store, for what runs after the deployment. */
export function toBaseAddressParameter(stage: NamedStage): string {
  return `/${toStackName(stage)}/base-address`;
}

/** The gateway, by which CloudWatch counts its requests too. */
export function toApiName(stage: NamedStage): string {
  return toStackName(stage);
}

export function toFunctionName(stage: NamedStage, operationId: OperationId): string {
  return `${toStackName(stage)}-${operationId}`;
}

export function toFunctionLogName(stage: NamedStage, operationId: OperationId): string {
  return `/aws/lambda/${toFunctionName(stage, operationId)}`;
}

export function toAccessLogName(stage: NamedStage): string {
  return `/aws/apigateway/${toApiName(stage)}`;
}

export function toTableName(stage: NamedStage, table: TableName): string {
  return `${toStackName(stage)}-${table}`;
}

/** The table that the functions use, which may be one restored from a backup. */
export function toUsedTableName(stage: Stage, table: TableName): string {
  return stage.settings.restoredTables?.[table] ?? toTableName(stage, table);
}

/** The stack's output that tells the name of the table in use: `apiKeys` is output as `ApiKeysTableName`. */
export function toTableOutput(table: string): string {
  return `${table[0]?.toUpperCase()}${table.slice(1)}TableName`;
}
