/** A page of a Scan, rewritten from DynamoDB's JSON to the list's JSON. */
export interface RewrittenPage {
  /** The entries as InventoryItems in JSON, separated by commas. */
  readonly items: Buffer;
  /** The response with an empty list of items, for the SDK to read as usual. */
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

const NUMBER = toTable('-0123456789');
const BASE64 = toTable('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=');

const petIdText = Buffer.from('{"petId":');
const quantityText = Buffer.from(',"quantity":');
const statusTexts: Readonly<Record<number, Buffer>> = {
  [code('a')]: Buffer.from(',"status":"available"}'),
  [code('p')]: Buffer.from(',"status":"pending"}'),
  [code('s')]: Buffer.from(',"status":"sold"}'),
};

/**
 * Rewrites a response byte by byte, without an object or a string per entry, so that numbers stay the
 * digits that they are: about a third of the CPU of JSON.parse and string building.
 *
 * It knows only records that are plainly ours: the attributes p, q, s and at most v, each once, in any
 * order, without white space or escapes. A version is bytes in base64. Anything else gives
 * `undefined`, and is for a JSON parser. The bytes `"Items":[` stand nowhere but before the items:
 * within a string the quotes would be escaped, and what follows an attribute's name is an object.
 */
export function rewriteScanResponse(response: Buffer): RewrittenPage | undefined {
  const start = response.indexOf(ITEMS) + ITEMS.length;
  if (start < ITEMS.length) return undefined;
  // The shortest record, of 41 bytes, grows by two.
  const items = Buffer.allocUnsafe(response.length + (response.length >> 4));
  let to = 0;
  let from = start;
  let hasMore = response[from] === OPEN;
  while (hasMore) {
    let petId = 0;
    let petIdEnd = 0;
    let quantity = 0;
    let quantityEnd = 0;
    let status: Buffer | undefined;
    let hasVersion = false;
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
        status = statusTexts[response[value] as number];
      } else if (name === VERSION && type === B && !hasVersion) {
        hasVersion = true;
      } else {
        return undefined;
      }
      from = end + 2;
    } while (response[from] === COMMA);
    if (response[from] !== CLOSE || petIdEnd === 0 || quantityEnd === 0 || !status)
      return undefined;
    to += petIdText.copy(items, to);
    to += response.copy(items, to, petId, petIdEnd);
    to += quantityText.copy(items, to);
    to += response.copy(items, to, quantity, quantityEnd);
    to += status.copy(items, to);
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

/** Whether `"p":{"N":"` stands here, with any name and type of one byte. */
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

/** Where a value of the types that our records have would end. */
function findValueEnd(response: Buffer, from: number, type: number | undefined): number {
  if (type === S) return from + 1;
  const belongs = type === B ? BASE64 : NUMBER;
  let at = from;
  while (belongs[response[at] as number] === 1) at++;
  return at;
}

/** 1 for each byte that is one of those characters. It is looked up, since a call a byte is slow until it is compiled. */
function toTable(characters: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const byte of Buffer.from(characters)) table[byte] = 1;
  return table;
}

function code(character: string): number {
  return character.charCodeAt(0);
}
