import { parseJson } from '../../../shared/contract/json.ts';

/** A string, with the colon after a member's name, or one of the signs that open, close and separate. */
const token = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[[\]{},]/g;

/**
 * Parses the JSON of a data file.
 * @throws {SyntaxError} if it is invalid JSON
 * @throws {Error} that names the place if an object has a member twice, of which JSON.parse would take the last
 */
export function parseDataJson(text: string): unknown {
  const value = parseJson(text);
  /** The open arrays and objects, each with the index or the name that was read last. */
  const open: { readonly names: Set<string> | undefined; at: string | number }[] = [];
  for (const [sign, string, colon] of text.matchAll(token)) {
    const inner = open.at(-1);
    if (sign === '{') open.push({ names: new Set(), at: '' });
    else if (sign === '[') open.push({ names: undefined, at: 0 });
    else if (sign === '}' || sign === ']') open.pop();
    else if (sign === ',' && typeof inner?.at === 'number') inner.at += 1;
    else if (string !== undefined && colon !== undefined && inner?.names) {
      inner.at = JSON.parse(string) as string;
      if (inner.names.size === inner.names.add(inner.at).size) {
        throw new Error(`${open.map(({ at }) => at).join('.')} is given twice`);
      }
    }
  }
  return value;
}
