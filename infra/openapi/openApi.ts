import { readFileSync } from 'node:fs';

/** An example. The published copy of the document has the address of its own documentation in place of this. */
export const documentation = 'https://docs.petstore.example/';

/** The parts of an OpenAPI 3.1.1 document that this service uses (https://spec.openapis.org/oas/v3.1.1.html). */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: Readonly<Record<string, unknown>> & { readonly version: string };
  readonly externalDocs: { readonly description: string; readonly url: string };
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  /** By path, then by method in lower case. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly headers: Readonly<Record<string, HeaderObject>>;
    readonly securitySchemes: Readonly<Record<string, unknown>>;
  };
}

export interface OperationObject {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly deprecated?: true;
  readonly 'x-stability': string;
  /** The instant after which the operation may be removed, in ISO 8601. */
  readonly 'x-sunset'?: string;
  readonly parameters: readonly ParameterObject[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  /** By status. */
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

export interface ParameterObject {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description: string;
  readonly explode?: false;
  readonly schema: JsonSchema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, Example>>;
}

export interface ResponseObject {
  readonly description: string;
  readonly headers: Readonly<Record<string, HeaderObject>>;
  readonly content?: Content;
}

/** A header, or a `$ref` to one. */
export interface HeaderObject {
  readonly $ref?: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly schema?: JsonSchema;
  readonly example?: string;
}

export type Content = Readonly<
  Record<
    string,
    { readonly schema: JsonSchema; readonly examples?: Readonly<Record<string, Example>> }
  >
>;

export interface Example {
  readonly summary?: string;
  readonly value: unknown;
  /** Scalar's own extension: the value is not sent by default. */
  readonly 'x-disabled'?: true;
}

/** JSON Schema 2020-12. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** A request to a local stage, and its response. */
export interface RecordedExample {
  readonly name: string;
  readonly summary: string;
  /** The headers sent beside the key. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly request?: unknown;
  readonly status: number;
  readonly response: unknown;
}

let committed: OpenApiDocument | undefined;

/** Reads the document on first use: the program that writes it loads this module too, perhaps before it exists. */
export function readCommittedDocument(): OpenApiDocument {
  const file = new URL('../../shared/contract/openapi.json', import.meta.url);
  committed ??= JSON.parse(readFileSync(file, 'utf8')) as OpenApiDocument;
  return committed;
}
