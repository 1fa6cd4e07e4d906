/**
 * Strings, and what looks like a number, each with the colon that makes it a member's name. A string that is
 * cut off is one too: otherwise each quote within it would be tried as the beginning of another.
 */
const token = /("[^"\\]*(?:\\.[^"\\]*)*"?|-?\d[\d.eE+-]*)(\s*:)?/g;
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

/** Reads an array's elements while its text arrives, and keeps no more of it than the element under way. */
export interface ArrayReader {
  /**
   * @returns the elements that the text completes
   * @throws {SyntaxError} when it is not the text of an array
   */
  read(text: string): unknown[];
  /** Whether the closing bracket has arrived: without it, some elements may be missing. */
  readonly isWhole: boolean;
}

/** What ends a string, changes the depth or separates elements. */
const sign = /["\\[\]{},]/g;

export function defineArrayReader(): ArrayReader {
  /** What has arrived and is not returned yet, from the next element on. */
  let rest = '';
  /** How much of `rest` has been looked at. */
  let position = 0;
  /** Brackets and braces that are open. */
  let depth = 0;
  let isInString = false;
  let hasElements = false;
  let isWhole = false;

  function openArray(): void {
    rest = rest.trimStart();
    if (rest === '') return;
    if (rest[0] !== '[') throw new SyntaxError('It is not an array.');
    rest = rest.slice(1);
    depth = 1;
  }

  /** @returns where the last element that is whole ends, or -1 */
  function findEnd(): number {
    let end = -1;
    sign.lastIndex = position;
    position = rest.length;
    for (let match = sign.exec(rest); match; match = sign.exec(rest)) {
      const [found] = match;
      if (found === '\\') {
        sign.lastIndex += 1;
        // The character that it escapes has yet to arrive.
        if (sign.lastIndex > rest.length) position = match.index;
      } else if (found === '"') isInString = !isInString;
      else if (isInString) continue;
      else if (found === ',') end = depth === 1 ? match.index : end;
      else if (found === '[' || found === '{') depth += 1;
      else if (--depth === 0) {
        if (found !== ']') throw new SyntaxError('The array is closed by a brace.');
        isWhole = true;
        return match.index;
      }
    }
    return end;
  }

  function takeElements(end: number): unknown[] {
    const elements = parseExactJson(`[${rest.slice(0, end)}]`) as unknown[];
    const isEmptyArray = isWhole && !hasElements;
    if (elements.length === 0 && !isEmptyArray) throw new SyntaxError('An element is missing.');
    hasElements = true;
    rest = rest.slice(end + 1);
    position -= end + 1;
    return elements;
  }

  return {
    read(text) {
      rest += text;
      if (depth === 0 && !isWhole) openArray();
      const end = depth === 0 ? -1 : findEnd();
      const elements = end < 0 ? [] : takeElements(end);
      if (isWhole && rest.trim() !== '') throw new SyntaxError('Something follows the array.');
      return elements;
    },
    get isWhole() {
      return isWhole;
    },
  };
}
