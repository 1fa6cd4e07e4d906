import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/**
 * The document client for pets and orders. It reads every number as bigint; the stores convert those that are not ids.
 * It is a separate file, so that the other functions do not bundle it.
 */
export function defineDocuments(client: DynamoDBClient): DynamoDBDocumentClient {
  return DynamoDBDocumentClient.from(client, { unmarshallOptions: { wrapNumbers: BigInt } });
}
