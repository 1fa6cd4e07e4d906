import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/** The least that a function on DynamoDB loads when nobody looks at what it loads. */
const documents = DynamoDBDocumentClient.from(new DynamoDBClient({}));

export async function handler() {
  return { statusCode: 200, body: JSON.stringify({ message: 'Hello', region: await toRegion() }) };
}

function toRegion() {
  return documents.config.region();
}
