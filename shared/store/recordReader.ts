import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import {
  BOOLEAN_ERROR,
  DATE_TIME_ERROR,
  INT64_ERROR,
  MAX_QUANTITY,
  parseInt64,
  TEXT_ERROR,
  toQuantityError,
} from '../contract/values.ts';

/**
 * Reads a member's attribute. If it is missing or invalid, adds a line to `problems` and returns `undefined`.
 * @param place the member's path, such as `tags.0.id`
 */
type Reader<Value> = (
  attribute: AttributeValue | undefined,
  place: string,
  problems: string[],
) => Value | undefined;

/** A reader for each member, in the order of the contract. */
type Members<Value> = { readonly [Name in keyof Value]-?: Reader<Value[Name]> };

/**
 * Makes a function that reads a stored document. It looks only at the declared members, so that other attributes may
 * have any type and value.
 * @param keys the names of the table's key
 */
/* @__NO_SIDE_EFFECTS__ */
export function defineRecordReader<Value>(keys: readonly string[], members: Members<Value>) {
  /** @throws {Error} that names the record and each invalid member */
  return (attributes: Record<string, AttributeValue>): Value => {
    const problems: string[] = [];
    const value = readMembers(members, attributes, '', problems);
    if (problems.length === 0) return value;
    const key = keys.map((name) => `${name} ${Object.values(attributes[name] ?? {})[0]}`);
    throw invalidRecord(key.join(', '), problems);
  };
}

/** The client gets a 500; an operator finds the record by this message in the log. */
export function invalidRecord(key: string, problems: readonly string[]): Error {
  return new Error(`The record of ${key} is not valid: ${problems.join('; ')}.`);
}

/** @param rule what is right, after the member's name */
export function toProblem(
  attribute: AttributeValue | undefined,
  place: string,
  rule: string,
): string {
  if (attribute === undefined) return `${place} is missing; it ${rule}`;
  return `${place} ${rule}, and is ${JSON.stringify(attribute).slice(0, 100)}`;
}

/* @__NO_SIDE_EFFECTS__ */
function defineReader<Value>(
  parse: (attribute: AttributeValue) => Value | undefined,
  rule: string,
): Reader<Value> {
  return (attribute, place, problems) => {
    const value = attribute && parse(attribute);
    if (value === undefined) problems.push(toProblem(attribute, place, rule));
    return value;
  };
}

export const text = defineReader(({ S }) => S, TEXT_ERROR);

export const boolean = defineReader(({ BOOL }) => BOOL, BOOLEAN_ERROR);

export const int64 = defineReader(({ N = '' }) => parseInt64(N), INT64_ERROR);

/** Whether DynamoDB stores it as the contract's date-time. */
export const dateTime = defineReader(
  ({ S = '' }) => (withOffset.test(S) && !Number.isNaN(Date.parse(S)) ? S : undefined),
  DATE_TIME_ERROR,
);

const withOffset = /^\d{4}-\d\d-\d\dT.+(?:Z|[+-]\d\d:\d\d)$/;

/* @__NO_SIDE_EFFECTS__ */
export function oneOf<Value extends string>(values: readonly Value[], rule: string) {
  return defineReader(({ S }) => values.find((value) => value === S), rule);
}

/* @__NO_SIDE_EFFECTS__ */
export function quantityFrom(least: number): Reader<number> {
  return defineReader(({ N }) => parseQuantity(N, least), toQuantityError(least));
}

/** A quantity in DynamoDB's text; `undefined` if it is none. A number would round a fraction close to an integer. */
export function parseQuantity(digits: string | undefined, least: number): number | undefined {
  const quantity = Number(digits);
  const isExact = Number.isInteger(quantity) && String(quantity) === digits;
  return isExact && quantity >= least && quantity <= MAX_QUANTITY ? quantity : undefined;
}

/* @__NO_SIDE_EFFECTS__ */
export function listOf<Value>(read: Reader<Value>): Reader<Value[]> {
  return (attribute, place, problems) => {
    const list = attribute?.L;
    if (!list) problems.push(toProblem(attribute, place, 'must be a list'));
    return list?.map((one, index) => read(one, `${place}.${index}`, problems) as Value);
  };
}

/* @__NO_SIDE_EFFECTS__ */
export function mapOf<Value>(members: Members<Value>): Reader<Value> {
  return (attribute, place, problems) => {
    const map = attribute?.M;
    if (!map) problems.push(toProblem(attribute, place, 'must be a map'));
    return map && readMembers(members, map, `${place}.`, problems);
  };
}

/* @__NO_SIDE_EFFECTS__ */
export function optional<Value>(read: Reader<Value>): Reader<Value> {
  return (attribute, place, problems) => attribute && read(attribute, place, problems);
}

function readMembers<Value>(
  members: Members<Value>,
  attributes: Record<string, AttributeValue>,
  path: string,
  problems: string[],
): Value {
  const value: Record<string, unknown> = {};
  for (const [name, read] of Object.entries<Reader<unknown>>(members)) {
    const member = read(attributes[name], path + name, problems);
    if (member !== undefined) value[name] = member;
  }
  return value as Value;
}
