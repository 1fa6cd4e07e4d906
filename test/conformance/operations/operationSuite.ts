import type { DynamoDbAction } from '../../../infra/stages/stageSettings.ts';
import type { TableName } from '../../../infra/stages/tables.ts';
import type { ConformanceTarget, TargetSource } from '../target.ts';

/** What the tests know of an operation. Written out and not read from the contract, so that a mistake there shows. */
export interface OperationSuite {
  /** A request that the service answers with 200. */
  toValidRequest(target: ConformanceTarget): ValidRequest;
  /** All that its function may do to its tables, first what a valid request does. */
  readonly access: Partial<Record<TableName, readonly [DynamoDbAction, ...DynamoDbAction[]]>>;
  /** Its rows, success and error. */
  describeRows(target: TargetSource): void;
}

export interface ValidRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
}
