import {
  type AttributeValue,
  ConditionalCheckFailedException,
  type DynamoDBClient,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { NotFound, PreconditionFailed, StoreUnavailable } from '../contract/errors.ts';
import { entryPetId } from '../contract/parameters.ts';
import { repeatConflicts } from './conflicts.ts';
import { type InventoryEntry, readInventoryEntry } from './inventoryEntry.ts';
import {
  buildCondition,
  newVersion,
  readPetStatus,
  toKey,
  toVersionValue,
} from './inventoryRecord.ts';

export interface Update {
  readonly petId: bigint;
  readonly quantity: number;
  /** The versions of the entry that the update may replace; undefined means any. */
  readonly versions?: readonly string[] | undefined;
}

export function defineInventoryUpdates(client: DynamoDBClient, tableName: string) {
  return {
    /**
     * Sets the stock count of an existing entry; with versions, only if the entry has one of them. This is one
     * conditional write, and one read if its condition fails. The SDK repeats a call that got no response, although it
     * may have taken effect. Then the repeated call's condition fails because of the version that this very update wrote.
     * @throws {NotFound} if there is no such entry
     * @throws {PreconditionFailed} if the entry has another version; this update changed nothing
     * @throws {StoreUnavailable} also if it is unknown whether this update changed the entry
     */
    async setQuantity({ petId, quantity, versions }: Update): Promise<InventoryEntry> {
      const version = newVersion();
      const input = {
        TableName: tableName,
        Key: toKey(petId.toString()),
        ...toChange(quantity, version, versions),
        ReturnValues: 'ALL_OLD',
      } as const;
      /** Attempts that the SDK repeated. All but the throttled ones may have taken effect. */
      let repeated = 0;
      try {
        const { Attributes = {} } = await repeatConflicts(() =>
          client.send(new UpdateItemCommand(input)).catch((error) => {
            repeated += countAttempts(error) - 1;
            throw error;
          }),
        );
        return { item: { petId, quantity, status: readPetStatus(Attributes) }, version };
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
      }
      const found = versions && (await readInventoryEntry(client, tableName, petId));
      if (!found) throw new NotFound(entryPetId, petId);
      if (found.version === version) return found;
      if (repeated > 0) {
        throw new StoreUnavailable(
          new Error('An attempt without a response may have taken effect.'),
        );
      }
      throw new PreconditionFailed(entryPetId, petId, found.version);
    },
  };
}

/** The attempts of a failed call, which the SDK's retries count on its last error. */
function countAttempts(error: { readonly $metadata?: { readonly attempts?: number } }): number {
  return error.$metadata?.attempts ?? 1;
}

function toChange(quantity: number, version: string, versions?: readonly string[]) {
  const conditions = versions?.flatMap((text, index) => buildCondition(text, index) ?? []) ?? [
    { expression: 'attribute_exists(p)', values: {} },
  ];
  const terms = conditions.map(({ expression }) => expression);
  if (terms.length === 0) terms.push('attribute_exists(p) AND attribute_not_exists(p)');
  return {
    UpdateExpression: 'SET q = :quantity, v = :version',
    // AND binds more tightly than OR, and DynamoDB rejects redundant parentheses.
    ConditionExpression: terms.join(' OR '),
    ExpressionAttributeValues: {
      ...Object.assign({}, ...conditions.map(({ values }) => values)),
      ':quantity': { N: quantity.toString() },
      ':version': toVersionValue(version),
    } as Record<string, AttributeValue>,
  };
}
