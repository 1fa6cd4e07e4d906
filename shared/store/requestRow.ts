import type { AttributeValue } from '@aws-sdk/client-dynamodb';

/** Now, in seconds since the epoch, as `timeToLive` counts. */
export function nowInSeconds(): number {
  return Math.floor(Date.now() / 1_000);
}

/**
 * Puts a request's row, unless another one is there that has not expired: DynamoDB may take some days to delete expired
 * items.
 * @param seconds now
 * @param lifetime in seconds
 */
export function buildRequestPut(
  TableName: string,
  row: Readonly<Record<string, AttributeValue>>,
  seconds: number,
  lifetime: number,
) {
  return {
    TableName,
    Item: { ...row, t: { N: String(seconds + lifetime) } },
    ConditionExpression: 'attribute_not_exists(r) OR t <= :now',
    ExpressionAttributeValues: { ':now': { N: String(seconds) } },
  };
}
