import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { defineDynamoDB } from './dynamodb.ts';

/**
 * The document client for pets and orders. It reads every number as bigint; the stores convert numbers that are not
 * ids. It adds middleware to commands, so it needs its own base client. That client shares the given one's connections.
 */
export function defineDocuments(beside: DynamoDBClient): DynamoDBDocumentClient {
  const client = defineDynamoDB({ beside });
  return DynamoDBDocumentClient.from(client, { unmarshallOptions: { wrapNumbers: BigInt } });
}
