import { readFile } from 'node:fs/promises';
import type { OpenApiDocument } from '../openapi/openApi.ts';

/** The interface's document. */
export interface OpenApi {
  /** As it is committed, and published. */
  readonly bytes: Buffer;
  readonly document: OpenApiDocument;
}

const file = new URL('../../shared/contract/openapi.json', import.meta.url);

export async function readOpenApi(): Promise<OpenApi> {
  const bytes = await readFile(file);
  return { bytes, document: JSON.parse(bytes.toString()) as OpenApiDocument };
}
