import type { AttributeValue } from '@aws-sdk/client-dynamodb';

/** DynamoDB's limit for an item, with the names of its attributes. */
export const MAX_ITEM_BYTES = 400 * 1_024;

/**
 * The size of an item as DynamoDB counts it, at most a few bytes too high: AWS documents the size of a number as
 * approximate. https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
export function countItemBytes(item: Readonly<Record<string, AttributeValue>>): number {
  const sizes = Object.entries(item).map(
    ([name, value]) => Buffer.byteLength(name) + countValueBytes(value),
  );
  return sum(sizes);
}

function countValueBytes({ S, N, L, M }: AttributeValue): number {
  if (S !== undefined) return Buffer.byteLength(S);
  if (N !== undefined) return Math.ceil(N.length / 2) + 1;
  // Three bytes, and one for each element.
  if (L) return 3 + L.length + sum(L.map(countValueBytes));
  if (M) return 3 + Object.keys(M).length + countItemBytes(M);
  return 1;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}
