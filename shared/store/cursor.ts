import { createHmac, timingSafeEqual } from 'node:crypto';
import { InvalidRequest } from '../contract/errors.ts';

export interface PageRequest {
  /** The most elements that the page may have. */
  readonly limit: number;
  readonly cursor?: string | undefined;
}

export interface Page<Element> {
  readonly items: Element[];
  /** The cursor of the page behind it; undefined after the last. */
  readonly next?: string;
}

const SEAL_BYTES = 12;

/**
 * Makes a position in a table opaque. The seal, keyed with the table's name, tells a cursor of this
 * table from one of another and from one that was made up or damaged. It is no secret: a cursor can only
 * ever mean a place in its own table, which whoever may list it could reach page by page anyway.
 */
export function sealCursor(tableName: string, position: string): string {
  const text = Buffer.from(position);
  return Buffer.concat([toSeal(tableName, text), text]).toString('base64url');
}

/**
 * @param isPosition whether a text is a position in the table, whoever sealed it
 * @throws {InvalidRequest} when the cursor is not one of this table
 */
export function openCursor(
  tableName: string,
  cursor: string,
  isPosition: (text: string) => boolean,
): string {
  const bytes = Buffer.from(cursor, 'base64url');
  const seal = bytes.subarray(0, SEAL_BYTES);
  const text = bytes.subarray(SEAL_BYTES);
  // The decoder passes over what is not base64url, so that one cursor would have many spellings.
  const isWhole = bytes.toString('base64url') === cursor && seal.length === SEAL_BYTES;
  const position = text.toString();
  if (isWhole && timingSafeEqual(seal, toSeal(tableName, text)) && isPosition(position)) {
    return position;
  }
  throw new InvalidRequest(
    'cursor must be the one that the Link header of the page before it gave.',
  );
}

function toSeal(tableName: string, position: Uint8Array): Buffer {
  return createHmac('sha256', tableName).update(position).digest().subarray(0, SEAL_BYTES);
}
