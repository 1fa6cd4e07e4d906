import type { AttributeValue } from '@aws-sdk/client-dynamodb';

/** What a JSON document read by `parseJson` can hold in this service. */
export type PlainValue =
  | string
  | number
  | bigint
  | boolean
  | readonly PlainValue[]
  | { readonly [member: string]: PlainValue };

/** Numbers travel as text, so that an int64 stays exact. */
export function toAttributeValue(value: PlainValue): AttributeValue {
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'boolean') return { BOOL: value };
  if (typeof value !== 'object') return { N: value.toString() };
  if (Array.isArray(value)) return { L: value.map(toAttributeValue) };
  return { M: toAttributes(value as Record<string, PlainValue>) };
}

export function toAttributes(members: Record<string, PlainValue>): Record<string, AttributeValue> {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [name, toAttributeValue(value)]),
  );
}

/**
 * The way back; an integer that a number cannot hold exactly becomes a bigint, as in `parseJson`.
 * @throws {Error} when the value is of a type that the service never writes
 */
export function toPlainValue({ S, N, BOOL, L, M }: AttributeValue): PlainValue {
  if (S !== undefined) return S;
  if (BOOL !== undefined) return BOOL;
  if (N !== undefined) return toPlainNumber(N);
  if (L !== undefined) return L.map(toPlainValue);
  if (M !== undefined) return toMembers(M);
  throw new Error('A record has an attribute of a type that the service never writes.');
}

export function toMembers(attributes: Record<string, AttributeValue>): Record<string, PlainValue> {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [name, toPlainValue(value)]),
  );
}

function toPlainNumber(text: string): number | bigint {
  const value = Number(text);
  return Number.isSafeInteger(value) || !/^-?\d+$/.test(text) ? value : BigInt(text);
}
