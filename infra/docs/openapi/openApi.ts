/** An example. The published copy of the document has the address of its own documentation in place of this. */
export const documentation = 'https://docs.petstore.example/';

// The parts of an OpenAPI 3.1.1 document that this service uses (https://spec.openapis.org/oas/v3.1.1.html).

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
