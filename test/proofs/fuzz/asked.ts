import { decodeParameter } from '../../../infra/gateway/proxyEvent.ts';
import type { Operation } from '../../../shared/contract/operation.ts';
import { readParameters } from '../../../shared/contract/paths.ts';
import { wrongSpellings } from './hostile.ts';
import type { FuzzRequest } from './requests.ts';

/** What a request asks for. */
export interface Asked {
  /** In the path. */
  readonly petId?: bigint | undefined;
  readonly quantity?: bigint | undefined;
  readonly adjustments?: readonly { readonly petId: bigint; readonly delta: bigint }[];
}

const MAX_ID = 2n ** 63n - 1n;
export const MAX_COUNT = 2n ** 31n - 1n;

/** Reads a request by the exact values of its texts; `undefined` if the contract does not take its path, query or body. */
export function readAsked(operation: Operation, request: FuzzRequest): Asked | undefined {
  const { petId: segment } = readParameters(operation.path, request.path) ?? {};
  const petId = segment === undefined ? undefined : parseId(decodeParameter(segment));
  if (segment !== undefined && petId === undefined) return undefined;
  if (!takesQuery(operation, new URLSearchParams(`?${request.query}`))) return undefined;
  if (!operation.requestBody) return { petId };
  const { quantity: given, adjustments: list } = Object(parseExact(`${request.body ?? ''}`));
  if (petId !== undefined) {
    const quantity = toInteger(given, 0n, MAX_COUNT);
    return quantity === undefined ? undefined : { petId, quantity };
  }
  if (!Array.isArray(list) || list.length < 1 || list.length > 10) return undefined;
  const adjustments = list.flatMap((one) => {
    const petId = toInteger(Object(one).petId, -MAX_ID - 1n, MAX_ID);
    const delta = toInteger(Object(one).delta, -MAX_COUNT, MAX_COUNT);
    return petId === undefined || !delta ? [] : { petId, delta };
  });
  const { size } = new Set(adjustments.map(({ petId }) => petId));
  return size === list.length ? { adjustments } : undefined;
}

/** One integer has one text: no leading zeros, no plus sign, no `-0`. */
function parseDigits(text: string, min: bigint, max: bigint): bigint | undefined {
  const value = /^-?\d+$/.test(text) ? BigInt(text) : undefined;
  const isExact = value !== undefined && `${value}` === text && value >= min && value <= max;
  return isExact ? value : undefined;
}
const parseId = (text: string) => parseDigits(text, -MAX_ID - 1n, MAX_ID);

const parameters: Readonly<Record<string, (texts: readonly string[]) => boolean>> = {
  limit: ([text = '', ...more]) => more.length === 0 && parseDigits(text, 1n, 1_000n) !== undefined,
  // No request has one from a response.
  cursor: () => false,
  status: (texts) => texts.length === 1 && /^(available|pending|sold)$/.test(texts.join()),
  include: (texts) => texts.join() === 'etag',
  petId(texts) {
    const ids = texts.join().split(',');
    return new Set(ids).size <= 100 && ids.every((id) => parseId(id) !== undefined);
  },
};

function takesQuery({ query = {} }: Operation, sent: URLSearchParams): boolean {
  if (sent.has('petId') && sent.has('limit') && 'petId' in query) return false;
  return [...new Set(sent.keys())].every((name) => {
    if (Object.hasOwn(query, name)) return parameters[name]?.(sent.getAll(name));
    return !(String(wrongSpellings[name]) in query);
  });
}

/** Parses JSON with each number as its own text after a `#`; `undefined` if it is invalid JSON or UTF-8. */
function parseExact(text: string): unknown {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  if (text.includes('\uFFFD')) return undefined;
  const token = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
  return JSON.parse(text.replaceAll(token, (one) => (one.startsWith('"') ? one : `"#${one}"`)));
}

/** The integer that the text of a number stands for, such as `5`, `5.0` or `50e-1`. */
function toInteger(number: unknown, min: bigint, max: bigint): bigint | undefined {
  const [, whole, fraction = '', exponent = '0'] =
    /^#(-?\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(String(number)) ?? [];
  if (whole === undefined) return undefined;
  const digits = BigInt(whole + fraction);
  const places = Number(exponent) - fraction.length;
  const power = 10n ** BigInt(Math.abs(places));
  if (places < 0 && digits % power !== 0n) return undefined;
  const value = places < 0 ? digits / power : digits * power;
  return value >= min && value <= max ? value : undefined;
}
