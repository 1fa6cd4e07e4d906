import { readFile } from 'node:fs/promises';

/** The interface's document. */
export interface OpenApi {
  /** As it is committed, and published. */
  readonly bytes: Buffer;
  readonly document: OpenApiDocument;
}

/** What the site reads of it. */
export interface OpenApiDocument {
  readonly info: { readonly version: string };
  readonly servers: readonly { readonly url: string }[];
  /** By path, then by method in lower case. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: { readonly securitySchemes: Readonly<Record<string, unknown>> };
}

const file = new URL('../../shared/contract/openapi.json', import.meta.url);

interface OperationObject {
  readonly operationId: string;
  readonly requestBody?: MediaObject;
  /** By status. */
  readonly responses: Readonly<Record<string, MediaObject>>;
}

interface MediaObject {
  readonly content: Readonly<
    Record<string, { readonly examples?: Readonly<Record<string, { readonly value: unknown }>> }>
  >;
}

export async function readOpenApi(): Promise<OpenApi> {
  const bytes = await readFile(file);
  return { bytes, document: JSON.parse(bytes.toString()) as OpenApiDocument };
}
