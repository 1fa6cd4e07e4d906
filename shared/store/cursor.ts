import { createHmac, timingSafeEqual } from 'node:crypto';
import { InvalidRequest } from '../contract/errors.ts';

export interface PageRequest {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

export interface Page<Element> {
  readonly items: Element[];
  /** The cursor of the next page; undefined after the last. */
  readonly next?: string;
}

const SEAL_BYTES = 12;

/**
 * Makes a position in a table opaque. The seal is there so that a damaged or invented cursor, or one of another table, is
 * a 400 in place of a page from a wrong position. It is no secret: whoever may list the table reaches every position.
 */
export function sealCursor(tableName: string, position: string): string {
  const text = Buffer.from(position);
  return Buffer.concat([computeSeal(tableName, text), text]).toString('base64url');
}

/**
 * @param isPosition whether a text is a valid position in the table
 * @throws {InvalidRequest} if the cursor is not one of this table
 */
export function openCursor(
  tableName: string,
  cursor: string,
  isPosition: (text: string) => boolean,
): string {
  const bytes = Buffer.from(cursor, 'base64url');
  const seal = bytes.subarray(0, SEAL_BYTES);
  const text = bytes.subarray(SEAL_BYTES);
  // The decoder ignores characters outside base64url, so one cursor would have many spellings.
  const isWhole = bytes.toString('base64url') === cursor && seal.length === SEAL_BYTES;
  const position = text.toString();
  if (isWhole && timingSafeEqual(seal, computeSeal(tableName, text)) && isPosition(position)) {
    return position;
  }
  throw new InvalidRequest('cursor must be the one in the Link header of the previous page.');
}

function computeSeal(tableName: string, position: Uint8Array): Buffer {
  return createHmac('sha256', tableName).update(position).digest().subarray(0, SEAL_BYTES);
}
