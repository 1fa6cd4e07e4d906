import { decodeParameter } from '../../../infra/gateway/proxyEvent.ts';
import type { Operation } from '../../../shared/contract/operation.ts';
import { matchPath } from '../../../shared/contract/paths.ts';
import type { FuzzRequest } from './requests.ts';

/** What a request asks for. */
export interface Asked {
  /** In the path. */
  readonly petId?: bigint | undefined;
  readonly quantity?: bigint | undefined;
  readonly adjustments?: readonly { readonly petId: bigint; readonly delta: bigint }[];
}

const MAX_ID = 2n ** 63n - 1n;
const MAX_COUNT = 2n ** 31n - 1n;

/** Reads a request by the exact values of its texts; `undefined` if the contract does not take its path, query or body. */
export function readAsked(operation: Operation, request: FuzzRequest): Asked | undefined {
  const { petId: segment } = matchPath(operation.path, request.path) ?? {};
  const petId = segment === undefined ? undefined : parseId(decodeParameter(segment));
  if (segment !== undefined && petId === undefined) return undefined;
  if (!takesQuery(operation, new URLSearchParams(`?${request.query}`))) return undefined;
  if (!operation.requestBody) return { petId };
  const { quantity, adjustments: list } = Object(parseExact(`${request.body ?? ''}`));
  if (petId !== undefined)
    return isWithin(quantity, 0n, MAX_COUNT) ? { petId, quantity } : undefined;
  if (!Array.isArray(list) || list.length < 1 || list.length > 10) return undefined;
  const adjustments: NonNullable<Asked['adjustments']> = list.map((one) => Object(one));
  const areExact = adjustments.every(({ petId, delta }) => {
    return isId(petId) && isWithin(delta, -MAX_COUNT, MAX_COUNT) && delta !== 0n;
  });
  const { size } = new Set(adjustments.map(({ petId }) => petId));
  return areExact && size === list.length ? { adjustments } : undefined;
}

function isWithin(value: unknown, min: bigint, max: bigint): boolean {
  return typeof value === 'bigint' && value >= min && value <= max;
}
const isId = (value: unknown) => isWithin(value, -MAX_ID - 1n, MAX_ID);

/** One id has one text: no leading zeros, no plus sign, no `-0`. */
function parseId(text: string): bigint | undefined {
  const value = /^-?\d+$/.test(text) ? BigInt(text) : undefined;
  return `${value}` === text && isId(value) ? value : undefined;
}

const parameters: Readonly<Record<string, RegExp>> = {
  limit: /^([1-9]\d{0,2}|1000)$/,
  // No request has one from a response.
  cursor: /^(?!)/,
  status: /^(available|pending|sold)$/,
  include: /^etag$/,
};

function takesQuery({ query = {} }: Operation, sent: URLSearchParams): boolean {
  const { petId: ids, ...others } = Object.fromEntries(
    Object.keys(query).flatMap((name) => (sent.has(name) ? [[name, `${sent.getAll(name)}`]] : [])),
  );
  if (ids !== undefined && 'limit' in others) return false;
  const areExact = ids === undefined || ids.split(',').every((id) => parseId(id) !== undefined);
  return areExact && Object.entries(others).every(([name, text]) => parameters[name]?.test(text));
}

type Reviver = (name: string, value: unknown, context: { readonly source: string }) => unknown;
/** ECMAScript 2026, which Node.js has from 21. */
const exactJson = JSON as unknown as { parse(text: string, reviver: Reviver): unknown };

/** Parses JSON with its integers as bigint and all other numbers as NaN; `undefined` if it is invalid JSON or UTF-8. */
function parseExact(text: string): unknown {
  if (text.includes('\uFFFD')) return undefined;
  try {
    return exactJson.parse(text, (_, value, { source }) => {
      return typeof value === 'number' ? toInteger(source) : value;
    });
  } catch {
    return undefined;
  }
}

/** The integer that a number stands for, such as `5`, `5.0` or `50e-1`. */
function toInteger(number: string): bigint | number {
  const [, whole = '', fraction = '', exponent = '0'] =
    /^(-?\d+)(?:\.(\d+))?(?:e(.+))?$/i.exec(number) ?? [];
  const digits = BigInt(whole + fraction);
  const places = Number(exponent) - fraction.length;
  const power = 10n ** BigInt(Math.abs(places));
  if (places >= 0) return digits * power;
  return digits % power === 0n ? digits / power : Number.NaN;
}
