import { MAX_QUANTITY } from '../contract/values.ts';
import { letterOf } from './inventoryRecord.ts';

/** A Scan page, rewritten from DynamoDB's JSON to the list's JSON. */
export interface RewrittenPage {
  /** The entries in JSON, separated by commas. */
  readonly items: Buffer;
  /** The response with an empty list of items, for the SDK. */
  readonly remainder: Buffer;
}

const ITEMS = '"Items":[';
const QUOTE = code('"');
const COMMA = code(',');
const OPEN = code('{');
const CLOSE = code('}');
const COLON = code(':');
const END = code(']');
const PET_ID = code('p');
const QUANTITY = code('q');
const STATUS = code('s');
const VERSION = code('v');
const N = code('N');
const S = code('S');
const B = code('B');
const ZERO = code('0');
const PLUS = code('+');
const SLASH = code('/');
const EQUALS = code('=');
const DASH = code('-');
const UNDERSCORE = code('_');
const MAX_INT64 = Buffer.from('9223372036854775807');
/** Digits of the largest quantity. */
const MAX_DIGITS = String(MAX_QUANTITY).length;

const DIGITS = markCharacters('0123456789');
const BASE64 = markCharacters('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=');

/** The seventh base64 character of five bytes: four bits of data and two zero bits. */
const LAST = markCharacters('AEIMQUYcgkosw048');
const BASE64URL = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_');

const petIdText = Buffer.from('{"petId":');
const quantityText = Buffer.from(',"quantity":');
const statusTexts = buildStatusTexts('}');
const taggedTexts = buildStatusTexts(',"etag":"\\"');
const tagEnd = Buffer.from('\\""}');

/**
 * Rewrites a response byte by byte, without an object or a string per entry, so numbers keep their digits. The entries
 * are those of `toInventoryItem`, or with tags those of `toTaggedItem`.
 *
 * It accepts only our own records: the attributes p, q, s and optionally v, each once, in any order, without white
 * space or escapes. A version is bytes in base64. For anything else it returns `undefined`, and the caller uses a JSON
 * parser. The bytes `"Items":[` occur only before the items: in a string, the quotes would be escaped, and an object
 * follows each attribute's name.
 */
export function rewriteScanResponse(
  response: Buffer,
  withTags: boolean,
): RewrittenPage | undefined {
  const start = response.indexOf(ITEMS) + ITEMS.length;
  if (start < ITEMS.length) return undefined;
  // The shortest record, 43 bytes and a comma, grows by two bytes, and by 22 more with its tag.
  const growth = withTags ? (response.length >> 1) + (response.length >> 3) : response.length >> 4;
  const items = Buffer.allocUnsafe(response.length + growth);
  const texts = withTags ? taggedTexts : statusTexts;
  let to = 0;
  let from = start;
  let hasMore = response[from] === OPEN;
  while (hasMore) {
    let petId = 0;
    let petIdEnd = 0;
    let quantity = 0;
    let quantityEnd = 0;
    let status: Buffer | undefined;
    let version = 0;
    let versionEnd = 0;
    let letter = 0;
    do {
      if (!isAttribute(response, from + 1)) return undefined;
      const name = response[from + 2];
      const type = response[from + 7];
      const value = from + 11;
      const end = findValueEnd(response, value, type);
      if (response[end] !== QUOTE || response[end + 1] !== CLOSE) return undefined;
      if (name === PET_ID && type === N && petIdEnd === 0) {
        petId = value;
        petIdEnd = end;
      } else if (name === QUANTITY && type === N && quantityEnd === 0) {
        quantity = value;
        quantityEnd = end;
      } else if (name === STATUS && type === S && !status) {
        letter = response[value] as number;
        status = texts[letter];
      } else if (name === VERSION && type === B && versionEnd === 0) {
        version = value;
        versionEnd = end;
      } else {
        return undefined;
      }
      from = end + 2;
    } while (response[from] === COMMA);
    const count = readQuantity(response, quantity, quantityEnd);
    if (response[from] !== CLOSE || count < 0 || !status || !isInt64(response, petId, petIdEnd))
      return undefined;
    to = put(petIdText, 0, petIdText.length, items, to);
    to = put(response, petId, petIdEnd, items, to);
    to = put(quantityText, 0, quantityText.length, items, to);
    to = put(response, quantity, quantityEnd, items, to);
    to = put(status, 0, status.length, items, to);
    if (withTags) {
      const length =
        versionEnd > 0
          ? writeUpdateVersion(items, to, response, version, versionEnd)
          : writeContentVersion(items, to, count, letter);
      if (length === 0) return undefined;
      to += length;
      to = put(tagEnd, 0, tagEnd.length, items, to);
    }
    from += 1;
    hasMore = response[from] === COMMA && response[from + 1] === OPEN;
    if (hasMore) {
      items[to++] = COMMA;
      from += 1;
    }
  }
  if (response[from] !== END) return undefined;
  return {
    items: items.subarray(0, to),
    remainder: Buffer.concat([response.subarray(0, start), response.subarray(from)]),
  };
}

/**
 * Copies bytes one by one: for so few, `Buffer.copy` takes twice as long.
 * @returns the next position in `items`
 */
function put(source: Buffer, from: number, end: number, items: Buffer, to: number): number {
  let at = to;
  for (let index = from; index < end; index++) items[at++] = source[index] as number;
  return at;
}

/** Whether the text here is like `"p":{"N":"`, with any name and type of one byte. */
function isAttribute(response: Buffer, at: number): boolean {
  return (
    response[at] === QUOTE &&
    response[at + 2] === QUOTE &&
    response[at + 3] === COLON &&
    response[at + 4] === OPEN &&
    response[at + 5] === QUOTE &&
    response[at + 7] === QUOTE &&
    response[at + 8] === COLON &&
    response[at + 9] === QUOTE
  );
}

function findValueEnd(response: Buffer, from: number, type: number | undefined): number {
  if (type === S) return from + 1;
  const belongs = type === B ? BASE64 : DIGITS;
  let at = type === N && response[from] === DASH ? from + 1 : from;
  while (belongs[response[at] as number] === 1) at++;
  return at;
}

/**
 * Converts the last update's value, five bytes, from base64 to seven characters of base64url.
 * @returns their number, or 0 for any other value, which the parser must read
 */
function writeUpdateVersion(
  items: Buffer,
  to: number,
  response: Buffer,
  from: number,
  end: number,
): number {
  if (end - from !== 8 || response[from + 7] !== EQUALS) return 0;
  for (let index = 0; index < 7; index += 1) {
    const character = response[from + index] as number;
    if (character === EQUALS) return 0;
    items[to + index] = character === PLUS ? DASH : character === SLASH ? UNDERSCORE : character;
  }
  return LAST[response[from + 6] as number] === 1 ? 7 : 0;
}

/** Whether an optional minus sign and digits are the canonical text of an int64. */
function isInt64(response: Buffer, from: number, end: number): boolean {
  const start = response[from] === DASH ? from + 1 : from;
  const length = end - start;
  if (response[start] === ZERO) return end - from === 1;
  if (length !== MAX_INT64.length) return length > 0 && length < MAX_INT64.length;
  let at = 0;
  while (at < length - 1 && response[start + at] === MAX_INT64[at]) at++;
  // The last digit of the smallest is one more.
  const isLast = at === length - 1 && start > from;
  return (response[start + at] as number) <= (MAX_INT64[at] as number) + (isLast ? 1 : 0);
}

/** The quantity; negative if it is missing or invalid, which the parser must read. */
function readQuantity(response: Buffer, from: number, end: number): number {
  const length = end - from;
  if (length === 0 || length > MAX_DIGITS || (length > 1 && response[from] === ZERO)) return -1;
  let quantity = 0;
  // After a minus sign, it stays negative.
  for (let at = from; at < end; at += 1) {
    quantity = quantity * 10 + (response[at] as number) - ZERO;
  }
  return quantity > MAX_QUANTITY ? -1 : quantity;
}

/**
 * Writes the version of an entry that was never updated: quantity, a zero byte and status, as in `readVersion`, in eight
 * characters of base64url.
 * @returns their number
 */
function writeContentVersion(items: Buffer, to: number, quantity: number, letter: number): number {
  items[to] = toCharacter(quantity >>> 26);
  items[to + 1] = toCharacter(quantity >>> 20);
  items[to + 2] = toCharacter(quantity >>> 14);
  items[to + 3] = toCharacter(quantity >>> 8);
  items[to + 4] = toCharacter(quantity >>> 2);
  items[to + 5] = toCharacter(quantity << 4);
  items[to + 6] = toCharacter(letter >>> 6);
  items[to + 7] = toCharacter(letter);
  return 8;
}

/** The base64url character of the last six bits. */
function toCharacter(bits: number): number {
  return BASE64URL[bits & 63] as number;
}

/** The text after a quantity, by the letter of the status. */
function buildStatusTexts(end: string): Readonly<Record<number, Buffer>> {
  const texts = Object.entries(letterOf).map(([status, letter]) => [
    code(letter),
    Buffer.from(`,"status":"${status}"${end}`),
  ]);
  return Object.fromEntries(texts);
}

/** 1 for each of these characters. A table, since a function call per byte is slow until it is compiled. */
function markCharacters(characters: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const byte of Buffer.from(characters)) table[byte] = 1;
  return table;
}

function code(character: string): number {
  return character.charCodeAt(0);
}
