/** What follows the key id of an API key, in any case of its letters. */
const secret = /(?<=psk_\w{10})\w+/gi;

/**
 * Cuts API keys to their key id. A client can send one in a path, and a server can repeat it. Any of its characters may
 * be percent-encoded or a JSON escape, at any depth, such as `%5F`, `%255F` and `\\u005f`. Other text stays as it is.
 */
export function hideSecrets(text: string): string {
  const { characters, spellings } = decode(text);
  for (const { 0: found, index } of characters.join('').matchAll(secret)) {
    spellings.fill('', index, index + found.length);
    spellings[index] = '…';
  }
  return spellings.join('');
}

/** An escape at the end of a text. */
const lastEscape = /(?:%|\\u00|\\x)([0-9a-f]{2})$/i;
const MAX_ESCAPE = 6;

/** The characters of a text after all decoding, each with its spelling there. */
function decode(text: string) {
  const characters: string[] = [];
  const spellings: string[] = [];

  /** Joins the last characters to one. @returns the last character */
  function join(count: number, character: string): string {
    characters.splice(-count, count, character);
    spellings.push(spellings.splice(-count, count).reduce((start, end) => start + end));
    return character;
  }

  for (const unit of text.split('')) {
    characters.push(unit);
    spellings.push(unit);
    // A decoded character can end another escape.
    for (let last = unit; /[0-9a-f]/i.test(last); ) {
      const [found, digits] = lastEscape.exec(characters.slice(-MAX_ESCAPE).join('')) ?? [];
      if (found === undefined) break;
      last = join(found.length, String.fromCharCode(Number.parseInt(digits ?? '', 16)));
      // JSON in JSON doubles its backslashes.
      while (found.startsWith('\\') && characters.at(-2) === '\\') join(2, last);
    }
  }
  return { characters, spellings };
}
