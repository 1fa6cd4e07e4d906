/**
 * JSON with exact integers, for the service, its client and its data files: an int64 past 2^53 would lose digits as a
 * JavaScript number. Parsing works in every engine, even if `JSON.parse` does not pass the source text to a reviver.
 */

type Reviver = (name: string, value: unknown) => unknown;

/**
 * Parses JSON. An integer, also one written as `5.0` or `5e0`, becomes a number if a number holds it exactly, and a
 * bigint otherwise. A number that only rounding would make an integer, such as `0.99999999999999999999` or `1e-400`,
 * becomes `NaN`.
 * @param parse does as `JSON.parse`
 * @throws {SyntaxError} if the text is invalid JSON
 */
export function parseJson(
  text: string,
  parse: (text: string, reviver?: Reviver) => unknown = JSON.parse,
): unknown {
  // Such numbers become strings marked "n". All other strings are marked "s", so that none looks like a number.
  return unsafe.test(text) ? parse(text.replace(token, toMarked), readMarked) : parse(text);
}

/** Whether a text may have a number that needs its digits: a long one, or one with a point or an exponent. */
const unsafe = /(?:^|[\s:,[])-?(?:\d{16}|\d+[.eE])/;

/**
 * A string or something like such a number, with the colon after a member's name. It also matches a truncated string.
 * Otherwise the pattern would try each quote in it as the start of another string.
 */
const token = /("[^"\\]*(?:\\.[^"\\]*)*"?|-?(?:\d{16}|\d+[.eE])[\d.eE+-]*)(\s*:)?/g;
const number = /^(-?(?:0|[1-9]\d*))(?:\.(\d+))?(?:e([+-]?\d+))?$/i;

function toMarked(match: string, literal: string, colon: string | undefined): string {
  if (colon !== undefined) return match;
  if (literal[0] === '"') return `"s${literal.slice(1)}`;
  return number.test(literal) ? `"n${literal}"` : literal;
}

function readMarked(_name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const text = value.slice(1);
  return value[0] === 'n' ? toNumber(text) : text;
}

/** A fraction, and what is past the range of a number, is as for `JSON.parse`. */
function toNumber(literal: string): number | bigint {
  const value = Number(literal);
  if (!Number.isInteger(value)) return value;
  const [, whole = '', fraction = '', exponent = 0] = number.exec(literal) ?? [];
  const digits = whole + fraction;
  const point = Math.max(0, whole.length + Number(exponent));
  if (/[1-9]/.test(digits.slice(point))) return Number.NaN;
  return Number.isSafeInteger(value) ? value : BigInt(digits.slice(0, point).padEnd(point, '0'));
}

/** ECMAScript 2026, which Node.js has from 21. The client does not write JSON with it. */
const exactJson = JSON as unknown as { rawJSON(text: string): unknown };

/** Writes a bigint as a JSON number. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, writeExactInteger);
}

function writeExactInteger(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? exactJson.rawJSON(value.toString()) : value;
}
