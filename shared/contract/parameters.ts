import { INT64_ERROR, parseInt64 } from './values.ts';

/**
 * A parameter of a path or of a query: text in the URL, a value in the handler. Plain functions and not
 * schemas, so that a function that takes no body starts without a schema library.
 */
export interface Parameter<Value> {
  /** `undefined` when the text is no value of it. An array comes separated by commas, also where it was repeated. */
  readonly parse: (text: string) => Value | undefined;
  /** What a client is told then, after the parameter's name. */
  readonly error: string;
  /** What the document says of it: a sentence, and the values that `parse` takes as JSON Schema has them. */
  readonly description: string;
  readonly schema: ParameterSchema;
}

/** The part of JSON Schema 2020-12 that parameters need. */
export type ParameterSchema =
  | { readonly type: 'integer'; readonly format: 'int64' }
  | { readonly type: 'integer'; readonly minimum: number; readonly maximum: number }
  | { readonly type: 'string'; readonly enum?: readonly string[]; readonly minLength?: number }
  | {
      readonly type: 'array';
      readonly items: ParameterSchema;
      readonly minItems: number;
      readonly maxItems: number;
    };

/** The values of parameters, by name. */
export type Values<Parameters> = {
  readonly [Name in keyof Parameters]: Parameters[Name] extends Parameter<infer Value>
    ? Value
    : never;
};

/** The id of something, in a path. */
export interface IdParameter extends Parameter<bigint> {
  /** As the path has it, such as `petId`. */
  readonly name: string;
  /** What has the id, such as `pet`. */
  readonly resource: string;
}

/** The `{petId}` of a pet. */
export const petId = defineIdParameter('petId', 'pet');

/** The `{petId}` of an inventory entry. */
export const entryPetId = defineIdParameter('petId', 'inventory entry');

/* @__NO_SIDE_EFFECTS__ so that a function bundles only the ids that it takes */
function defineIdParameter(name: string, resource: string): IdParameter {
  return {
    name,
    resource,
    parse: parseInt64,
    error: INT64_ERROR,
    description: `The id of the ${resource}.`,
    schema: { type: 'integer', format: 'int64' },
  };
}
