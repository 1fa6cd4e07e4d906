import { readFileSync } from 'node:fs';
import type { OpenApiDocument } from './openApi.ts';

/** The interface's document. */
export interface CommittedDocument {
  /** As it is committed, and published. */
  readonly bytes: Buffer;
  readonly document: OpenApiDocument;
}

const file = new URL('../../shared/contract/openapi.json', import.meta.url);
let read: CommittedDocument | undefined;

/** Read when it is asked for and not before: what writes it loads this too, and may find none. */
export function readCommittedDocument(): CommittedDocument {
  if (!read) {
    const bytes = readFileSync(file);
    read = { bytes, document: JSON.parse(bytes.toString()) as OpenApiDocument };
  }
  return read;
}
