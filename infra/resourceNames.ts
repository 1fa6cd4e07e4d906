import type { OperationId } from '../shared/contract/operations.ts';
import { type StageName, toStackName } from './stages.ts';
import type { TableName } from './tables.ts';

// Fixed names, and not ones that CloudFormation makes up: the watch stack finds what it watches without
// exports, which would bind the service stack to it; a retained table or log can be taken over by a new
// stack (`--import-existing-resources`); and no change can replace a table unnoticed.

/** The gateway's stage, and with it the end of every base address. */
export const apiStageName = 'v1';

/** The gateway, by which CloudWatch counts its requests too. */
export function toApiName(stage: StageName): string {
  return toStackName(stage);
}

export function toFunctionName(stage: StageName, operationId: OperationId): string {
  return `${toStackName(stage)}-${operationId}`;
}

export function toFunctionLogName(stage: StageName, operationId: OperationId): string {
  return `/aws/lambda/${toFunctionName(stage, operationId)}`;
}

export function toAccessLogName(stage: StageName): string {
  return `/aws/apigateway/${toApiName(stage)}`;
}

export function toTableName(stage: StageName, table: TableName): string {
  return `${toStackName(stage)}-${table}`;
}
