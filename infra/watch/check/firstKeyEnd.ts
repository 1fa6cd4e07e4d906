import { type DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';

/** When the first of the keys ends that nobody has ended or replaced; nothing, when none of them ever does. */
export async function findFirstKeyEnd(
  client: DynamoDBClient,
  tableName: string,
  now: number,
): Promise<Date | undefined> {
  const ends: number[] = [];
  const pages = paginateScan(
    { client },
    {
      TableName: tableName,
      FilterExpression:
        'attribute_exists(expiresAt) AND attribute_not_exists(revokedAt) AND attribute_not_exists(successorId)',
      ProjectionExpression: 'expiresAt',
    },
  );
  for await (const { Items = [] } of pages) {
    ends.push(...Items.map(({ expiresAt }) => Date.parse(expiresAt?.S ?? '')));
  }
  const ahead = ends.filter((end) => end > now);
  return ahead.length === 0 ? undefined : new Date(Math.min(...ahead));
}
