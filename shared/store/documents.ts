import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { StoredNumber } from './recordReader.ts';

/** The document client's settings for reading. A number keeps its text, so that one of any size or scale can be read. */
export const unmarshallOptions = Object.freeze({
  wrapNumbers: (digits: string) => new StoredNumber(digits),
});

/** The document client for pets and orders. Only their functions bundle it. */
export function defineDocuments(client: DynamoDBClient): DynamoDBDocumentClient {
  // The client adds an option of its own to what it gets.
  return DynamoDBDocumentClient.from(client, { unmarshallOptions: { ...unmarshallOptions } });
}
