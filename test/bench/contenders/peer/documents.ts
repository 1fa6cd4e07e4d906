import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/** One client a container. Integers past 2^53 are read as bigint, so that ids stay exact. */
export const documents = DynamoDBDocumentClient.from(new DynamoDBClient({}), {
  unmarshallOptions: { wrapNumbers: toExactNumber },
});

/** Lets `JSON.stringify` write a bigint as the digits of a number. */
Object.assign(BigInt.prototype, {
  toJSON(this: bigint) {
    return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(this.toString());
  },
});

function toExactNumber(text: string): number | bigint {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : BigInt(text);
}
