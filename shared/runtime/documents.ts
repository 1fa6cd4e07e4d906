import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { defineDynamoDB } from './dynamodb.ts';

/**
 * The document client of pets and orders. It reads every number as bigint: those that are not
 * ids are converted where they are read. It has a client of its own to build on, since it gives its commands
 * middleware, on the given one's connections.
 */
export function defineDocuments(beside: DynamoDBClient): DynamoDBDocumentClient {
  const client = defineDynamoDB({ beside });
  return DynamoDBDocumentClient.from(client, { unmarshallOptions: { wrapNumbers: BigInt } });
}
