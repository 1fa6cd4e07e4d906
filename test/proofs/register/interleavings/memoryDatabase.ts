import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { type TableDefinition, tables } from '../../../../infra/stages/tables.ts';

/** One attempt of a call to DynamoDB, as JSON. */
export interface Call {
  readonly action: string;
  readonly parameters: CallParameters;
}

export interface Reply {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export type Database = ReturnType<typeof defineMemoryDatabase>;

export type Item = Readonly<Record<string, AttributeValue>>;

interface CallParameters {
  readonly TableName?: string;
  readonly Key?: Item;
  readonly Item?: Item;
  readonly ConditionExpression?: string;
  readonly UpdateExpression?: string;
  readonly ExpressionAttributeValues?: Item;
  readonly ReturnValues?: string;
  readonly TransactItems?: readonly Readonly<Record<string, CallParameters>>[];
  readonly ClientRequestToken?: string | undefined;
}

/** What the store's updates need of DynamoDB; throws at anything else. An engine would take most of a run's time. */
export function defineMemoryDatabase() {
  const items = new Map<string, Item>();
  const tokens = new Set<string>();

  function toWrite(parameters: CallParameters) {
    const { ConditionExpression, UpdateExpression, ExpressionAttributeValues = {} } = parameters;
    const id = toId(parameters);
    const old = items.get(id);
    const isMet =
      !ConditionExpression || holds(ConditionExpression, old ?? {}, ExpressionAttributeValues);
    const changes = toChanges(UpdateExpression, ExpressionAttributeValues);
    const reason = isMet ? { Code: 'None' } : { Code: 'ConditionalCheckFailed', Item: old };
    const commit = () =>
      items.set(id, parameters.Item ?? { ...old, ...parameters.Key, ...changes });
    return { old, reason, commit };
  }

  function transact({ TransactItems = [], ClientRequestToken }: CallParameters): Reply {
    if (tokens.has(ClientRequestToken ?? '')) return { status: 200, body: {} };
    const writes = TransactItems.map(({ Put, Update }) =>
      toWrite((Put ?? Update) as CallParameters),
    );
    const reasons = writes.map(({ reason }) => reason);
    if (reasons.some(({ Code }) => Code !== 'None')) return toCancellation(reasons);
    for (const { commit } of writes) commit();
    if (ClientRequestToken) tokens.add(ClientRequestToken);
    return { status: 200, body: {} };
  }

  return {
    /** Runs a call in one step: no other call comes in between. */
    async execute({ action, parameters }: Call): Promise<Reply> {
      if (action === 'TransactWriteItems') return transact(parameters);
      if (action === 'GetItem') return { status: 200, body: { Item: items.get(toId(parameters)) } };
      if (action !== 'PutItem' && action !== 'UpdateItem') unknown(action);
      const { old, reason, commit } = toWrite(parameters);
      if (reason.Code !== 'None') return toError('ConditionalCheckFailedException');
      commit();
      return {
        status: 200,
        body: parameters.ReturnValues === 'ALL_OLD' ? { Attributes: old } : {},
      };
    },
    /**
     * The response to a write without effect, because another transaction holds one of its items.
     * @param held the index of that item in a transaction; the conditions of the others are still checked
     * @param Code why DynamoDB refuses that item
     */
    refuse({ parameters: { TransactItems } }: Call, held: number, Code: string): Reply {
      if (!TransactItems) return toError('TransactionConflictException');
      const reasons = TransactItems.map(({ Put, Update }, index) =>
        index === held ? { Code } : toWrite((Put ?? Update) as CallParameters).reason,
      );
      return toCancellation(reasons);
    },
    /** The only entry of the inventory. */
    entry: (): Item | undefined =>
      items.entries().find(([id]) => id.startsWith('["inventory"'))?.[1],
  };
}

function toCancellation(CancellationReasons: readonly object[]): Reply {
  return toError('TransactionCanceledException', { CancellationReasons });
}

export function toError(type: string, fields: object = {}): Reply {
  return { status: 400, body: { __type: `com.amazonaws.dynamodb.v20120810#${type}`, ...fields } };
}

function toId({ TableName = '', Key, Item = Key }: CallParameters): string {
  const { partitionKey, sortKey }: TableDefinition = tables[TableName as keyof typeof tables];
  return JSON.stringify([TableName, Item?.[partitionKey.name], sortKey && Item?.[sortKey.name]]);
}

/** Parses an expression like `SET q = :quantity, v = :version`. */
function toChanges(expression: string | undefined, values: Item): Item {
  const assignments = expression?.replace(/^SET /, '').split(', ') ?? [];
  return Object.fromEntries(
    assignments.map((assignment) => {
      const [, name = '', value = ''] = /^(\w) = (:\w+)$/.exec(assignment) ?? [];
      return [name, values[value] ?? unknown(assignment)];
    }),
  );
}

function holds(expression: string, item: Item, values: Item): boolean {
  return expression
    .split(' OR ')
    .some((terms) => terms.split(' AND ').every((term) => holdsTerm(term, item, values)));
}

function holdsTerm(term: string, item: Item, values: Item): boolean {
  const [, isNot, name = ''] = /^attribute_(not_)?exists\((\w+)\)$/.exec(term) ?? [];
  if (name) return name in item === !isNot;
  const [, left = '', operator, right = ''] = /^(\w+) (=|<=) (:\w+)$/.exec(term) ?? [];
  const [own, value] = [item[left], values[right]];
  if (operator === '=')
    return value ? JSON.stringify(own) === JSON.stringify(value) : unknown(term);
  if (operator === '<=') return Number(own?.N) <= Number(value?.N);
  return unknown(term);
}

function unknown(term: string): never {
  throw new Error(`The memory database does not support ${term}.`);
}
