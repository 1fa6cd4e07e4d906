import { type AttributeValue, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { startEmbeddedEngine } from '../../../infra/local/engine/engine.ts';
import { setFunctionEnvironment } from '../../../infra/local/lambdaRuntime.ts';
import { createTables } from '../../../infra/local/localTables.ts';
import { exactFetch } from '../../support/exactFetch.ts';

/** One attempt of a call to DynamoDB, as JSON. */
export interface Call {
  readonly action: string;
  readonly parameters: CallParameters;
}

export interface Reply {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export type Database = Awaited<ReturnType<typeof openDatabase>> & {
  /** Whether errors of the client do not say how often a call was attempted. */
  readonly hidesAttempts?: boolean;
};

export type Item = Readonly<Record<string, AttributeValue>>;

interface CallParameters {
  readonly TableName?: string;
  readonly Key?: Item;
  readonly Item?: Item;
  readonly ConditionExpression?: string;
  readonly ExpressionAttributeValues?: Item;
  readonly TransactItems?: readonly Readonly<Record<string, CallParameters>>[];
  readonly ClientRequestToken?: string | undefined;
}

/** The embedded engine checks that there is a signature, but not whose it is. */
const headers = {
  Authorization: 'AWS4-HMAC-SHA256 Credential=a, SignedHeaders=a, Signature=a',
  'Content-Type': 'application/x-amz-json-1.0',
  'X-Amz-Date': 'a',
};

/** The embedded engine with empty tables, for calls in sequence. */
export async function openDatabase() {
  const { endpoint, close } = await startEmbeddedEngine();
  setFunctionEnvironment(endpoint, 'https://docs.petstore.example');
  const client = new DynamoDBClient();
  await createTables(client);
  client.destroy();

  async function execute({ action, parameters }: Call): Promise<Reply> {
    const target = { 'X-Amz-Target': `DynamoDB_20120810.${action}` };
    const { status, text } = await exactFetch(endpoint, {
      method: 'POST',
      headers: { ...headers, ...target },
      body: JSON.stringify(parameters),
    });
    return { status, body: JSON.parse(text) };
  }

  return {
    execute,
    close,
    /**
     * The response to a write without effect, because another transaction holds one of its items.
     * @param held the index of that item in a transaction; the conditions of the others are still checked
     * @param Code why DynamoDB refuses that item
     */
    async refuse({ action, parameters }: Call, held: number, Code: string): Promise<Reply> {
      const { TransactItems } = parameters;
      if (!TransactItems) return toError('TransactionConflictException');
      // With a write that always fails, the others have no effect, and the reasons show their conditions.
      const Put = {
        TableName: 'requests',
        Item: { p: { N: '0' }, r: { S: 'none' } },
        ConditionExpression: 'attribute_exists(r)',
      };
      const failing = { TransactItems: [...TransactItems, { Put }] };
      const { body } = await execute({ action, parameters: failing });
      const reasons = (body.CancellationReasons as object[]).slice(0, -1).with(held, { Code });
      return toError('TransactionCanceledException', { CancellationReasons: reasons });
    },
    /** The stored entry. */
    async readEntry(petId: bigint): Promise<Item | undefined> {
      const Key = { p: { N: `${petId}` } };
      const parameters = { TableName: 'inventory', Key, ConsistentRead: true };
      return (await execute({ action: 'GetItem', parameters })).body.Item as Item | undefined;
    },
  };
}

export function toError(type: string, fields: object = {}): Reply {
  return { status: 400, body: { __type: `com.amazonaws.dynamodb.v20120810#${type}`, ...fields } };
}
