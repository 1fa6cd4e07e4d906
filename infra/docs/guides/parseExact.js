/** Like JSON.parse, but integers that a number cannot hold exactly become BigInt. */
export function parseExact(text) {
  return JSON.parse(text, (key, value, context) => {
    if (!Number.isInteger(value) || Number.isSafeInteger(value)) return value;
    if (context?.source === undefined) {
      throw new TypeError(`JSON.parse gives no source text here: ${key} would be rounded.`);
    }
    return /^-?\d+$/.test(context.source) ? BigInt(context.source) : value;
  });
}
