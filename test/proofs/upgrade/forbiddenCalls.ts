import type { OperationId } from '../../../shared/contract/operations.ts';

/** A call of an operation's function to DynamoDB. */
export interface DatabaseCall {
  readonly operationId: OperationId;
  readonly action: string;
  readonly input: {
    readonly TableName?: string;
    readonly RequestItems?: Readonly<Record<string, unknown>>;
    readonly TransactItems?: readonly Readonly<Record<string, { readonly TableName: string }>>[];
  };
}

type FindAccess = (
  operationId: OperationId,
) => Readonly<Partial<Record<string, readonly string[]>>>;

/** What the roles of a release forbid: while it is deployed, and after its rollback, another one runs under them. */
export function findForbiddenCalls(
  calls: readonly DatabaseCall[],
  findAccess: FindAccess,
): string[] {
  const forbidden = calls.flatMap(({ operationId, action, input }) =>
    listActions(action, input)
      .filter(([table, one]) => !findAccess(operationId)[table]?.includes(`dynamodb:${one}`))
      .map(([table, one]) => `the role of ${operationId} forbids ${one} on ${table}`),
  );
  return [...new Set(forbidden)];
}

/**
 * The actions that IAM checks on each table. A transaction needs those of its parts:
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis-iam.html
 */
function listActions(action: string, input: DatabaseCall['input']): [table: string, string][] {
  const { TableName = '', RequestItems, TransactItems } = input;
  if (RequestItems) return Object.keys(RequestItems).map((table) => [table, action]);
  if (!TransactItems) return [[TableName, action]];
  return TransactItems.flatMap(Object.entries).map(([part, { TableName }]) => [
    TableName,
    `${part}Item`,
  ]);
}
