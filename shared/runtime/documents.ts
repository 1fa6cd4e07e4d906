import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/**
 * The document client of pets and orders. It reads every number as bigint: those that are not
 * ids are converted where they are read. One per base client, whose settings a second one would change.
 */
export function defineDocuments(client: DynamoDBClient): DynamoDBDocumentClient {
  return DynamoDBDocumentClient.from(client, { unmarshallOptions: { wrapNumbers: BigInt } });
}
