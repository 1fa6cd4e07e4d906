import { readFileSync } from 'node:fs';
import type { OpenApiDocument } from './openApi.ts';

/** The API document. */
export interface CommittedDocument {
  /** The committed and published bytes. */
  readonly bytes: Buffer;
  readonly document: OpenApiDocument;
}

const file = new URL('../../shared/contract/openapi.json', import.meta.url);
let read: CommittedDocument | undefined;

/**
 * Reads the document on first use, since the program that writes it loads this module too, perhaps before it exists.
 */
export function readCommittedDocument(): CommittedDocument {
  if (!read) {
    const bytes = readFileSync(file);
    read = { bytes, document: JSON.parse(bytes.toString()) as OpenApiDocument };
  }
  return read;
}
