import { parseJson } from '../contract/json.ts';

const sign = /["\\[\]{},]/g;

/** Reads an array's elements as its text arrives, and keeps only the incomplete element in memory. */
export function defineArrayReader() {
  /** Text from the next element on, not returned yet. */
  let rest = '';
  /** How much of `rest` has been scanned. */
  let position = 0;
  /** Open brackets and braces. */
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

  /** @returns the end of the last complete element, or -1 */
  function findEnd(): number {
    let end = -1;
    sign.lastIndex = position;
    position = rest.length;
    for (let match = sign.exec(rest); match; match = sign.exec(rest)) {
      const [found] = match;
      if (found === '\\') {
        sign.lastIndex += 1;
        // The escaped character has not arrived yet.
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
    const elements = parseJson(`[${rest.slice(0, end)}]`) as unknown[];
    const isEmptyArray = isWhole && !hasElements;
    if (elements.length === 0 && !isEmptyArray) throw new SyntaxError('An element is missing.');
    hasElements = true;
    rest = rest.slice(end + 1);
    position -= end + 1;
    return elements;
  }

  return {
    /**
     * @returns the elements that the text completes
     * @throws {SyntaxError} if it is not the text of an array
     */
    read(text: string): unknown[] {
      rest += text;
      if (depth === 0 && !isWhole) openArray();
      const end = depth === 0 ? -1 : findEnd();
      const elements = end < 0 ? [] : takeElements(end);
      if (isWhole && rest.trim() !== '') throw new SyntaxError('Something follows the array.');
      return elements;
    },
    /** Whether the closing bracket has arrived. Without it, elements may be missing. */
    get isWhole() {
      return isWhole;
    },
  };
}
