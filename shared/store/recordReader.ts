import {
  BOOLEAN_ERROR,
  DATE_TIME_ERROR,
  INT64_ERROR,
  MAX_QUANTITY,
  parseInt64,
  quantityError,
  TEXT_ERROR,
} from '../contract/values.ts';

/** A number as DynamoDB sent it. A JavaScript number could round it, and a bigint has no fraction. */
export class StoredNumber {
  readonly digits: string;

  constructor(digits: string) {
    this.digits = digits;
  }

  toString(): string {
    return this.digits;
  }

  toJSON(): unknown {
    return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(this.digits);
  }
}

/**
 * Reads a member's value, as the document client returns it. If it is missing or invalid, adds a line to `problems` and
 * returns `undefined`.
 * @param path the member's path, such as `tags.0.id`
 */
type Reader<Value> = (value: unknown, path: string, problems: string[]) => Value | undefined;

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
  return (record: Readonly<Record<string, unknown>>): Value => {
    const problems: string[] = [];
    const value = readMembers(members, record, '', problems);
    if (problems.length === 0) return value;
    const key = keys.map((name) => `${name} ${record[name]}`);
    throw invalidRecord(key.join(', '), problems);
  };
}

const MAX_PROBLEMS = 5;

/** The client gets a 500; an operator finds the record by this message in the log. */
export function invalidRecord(key: string, problems: readonly string[]): Error {
  const shown = problems.slice(0, MAX_PROBLEMS).join('; ');
  const more = problems.length > MAX_PROBLEMS ? `; and ${problems.length - MAX_PROBLEMS} more` : '';
  return new Error(`The record of ${key} is not valid: ${shown}${more}.`);
}

/** @param rule what is right, after the member's name */
export function describeProblem(value: unknown, path: string, rule: string): string {
  if (value === undefined) return `${path} is missing; it ${rule}`;
  const found = JSON.stringify(value instanceof Set ? [...value] : value);
  return `${path} ${rule}, and is ${found.slice(0, 100)}`;
}

/* @__NO_SIDE_EFFECTS__ */
function defineReader<Value>(
  parse: (stored: unknown) => Value | undefined,
  rule: string,
): Reader<Value> {
  return (stored, path, problems) => {
    const value = parse(stored);
    if (value === undefined) problems.push(describeProblem(stored, path, rule));
    return value;
  };
}

const asText = (stored: unknown) => (typeof stored === 'string' ? stored : undefined);
const asDigits = (stored: unknown) => (stored instanceof StoredNumber ? stored.digits : '');

export const text = defineReader(asText, TEXT_ERROR);

export const boolean = defineReader(
  (stored) => (typeof stored === 'boolean' ? stored : undefined),
  BOOLEAN_ERROR,
);

export const int64 = defineReader((stored) => parseInt64(asDigits(stored)), INT64_ERROR);

/** An RFC 3339 date-time, in any form that a release has imported. */
export const dateTime = defineReader((stored) => {
  const time = asText(stored) ?? '';
  return withOffset.test(time) && !Number.isNaN(Date.parse(time)) ? time : undefined;
}, DATE_TIME_ERROR);

const withOffset = /^\d{4}-\d\d-\d\dT.+(?:Z|[+-]\d\d:\d\d)$/;

/* @__NO_SIDE_EFFECTS__ */
export function oneOf<Value extends string>(values: readonly Value[], rule: string) {
  return defineReader((stored) => values.find((value) => value === stored), rule);
}

/* @__NO_SIDE_EFFECTS__ */
export function quantityFrom(min: number): Reader<number> {
  return defineReader((stored) => parseQuantity(asDigits(stored), min), quantityError(min));
}

/** A quantity in DynamoDB's text; `undefined` if it is not one. A number would round a fraction close to an integer. */
export function parseQuantity(digits: string | undefined, min: number): number | undefined {
  const quantity = Number(digits);
  const isExact = Number.isInteger(quantity) && String(quantity) === digits;
  return isExact && quantity >= min && quantity <= MAX_QUANTITY ? quantity : undefined;
}

/* @__NO_SIDE_EFFECTS__ */
export function listOf<Value>(read: Reader<Value>): Reader<Value[]> {
  return (stored, path, problems) => {
    const list = Array.isArray(stored) ? stored : undefined;
    if (!list) problems.push(describeProblem(stored, path, 'must be a list'));
    return list?.map((one, index) => read(one, `${path}.${index}`, problems) as Value);
  };
}

/* @__NO_SIDE_EFFECTS__ */
export function mapOf<Value>(members: Members<Value>): Reader<Value> {
  return (stored, path, problems) => {
    if (isMap(stored)) return readMembers(members, stored, `${path}.`, problems);
    problems.push(describeProblem(stored, path, 'must be a map'));
    return undefined;
  };
}

/* @__NO_SIDE_EFFECTS__ */
export function optional<Value>(read: Reader<Value>): Reader<Value> {
  return (stored, path, problems) =>
    stored === undefined ? undefined : read(stored, path, problems);
}

/** The document client makes plain objects of maps alone. */
function isMap(stored: unknown): stored is Record<string, unknown> {
  return stored instanceof Object && Object.getPrototypeOf(stored) === Object.prototype;
}

function readMembers<Value>(
  members: Members<Value>,
  record: Readonly<Record<string, unknown>>,
  path: string,
  problems: string[],
): Value {
  const value: Record<string, unknown> = {};
  for (const [name, read] of Object.entries<Reader<unknown>>(members)) {
    const member = read(record[name], path + name, problems);
    if (member !== undefined) value[name] = member;
  }
  return value as Value;
}
