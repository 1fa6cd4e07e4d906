/** Strings, and what looks like a number, each with the colon that makes it a member's name. */
const token = /("[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*)(\s*:)?/g;
const longInteger = /^-?[1-9]\d{15,}$/;

/**
 * Reads a document in which an integer that a number cannot hold exactly becomes a bigint. It works in
 * every engine, also in those whose `JSON.parse` does not show a reviver the source text.
 * @throws {SyntaxError} when the text is not JSON
 */
export function parseExactJson(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  // Long integers travel as strings. Every other string is marked too, so that none is mistaken for one.
  return JSON.parse(text.replace(token, toMarked), (_, value) => {
    if (typeof value !== 'string') return value;
    return value[0] === 'n' ? toInteger(value.slice(1)) : value.slice(1);
  });
}

function toMarked(match: string, literal: string, colon: string | undefined): string {
  if (colon !== undefined) return match;
  if (literal[0] === '"') return `"s${literal.slice(1)}`;
  return longInteger.test(literal) ? `"n${literal}"` : literal;
}

function toInteger(digits: string): number | bigint {
  const value = Number(digits);
  return Number.isSafeInteger(value) ? value : BigInt(digits);
}
