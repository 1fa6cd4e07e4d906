import { INT64_ERROR, parseInt64 } from './values.ts';

/**
 * A parameter of a path or a query: text in the URL, a value in the handler. It uses plain functions, not schemas, so
 * that a function without a body starts without a schema library.
 */
export interface Parameter<Value> {
  /** Returns `undefined` for an invalid text. An array comes comma-separated, also if the parameter was repeated. */
  readonly parse: (text: string) => Value | undefined;
  /** The error message for an invalid text, after the parameter's name. */
  readonly error: string;
  readonly description: string;
  /** The values that `parse` accepts, as JSON Schema. */
  readonly schema: ParameterSchema;
}

/** The part of JSON Schema 2020-12 that parameters need. */
export type ParameterSchema = {
  readonly type: 'integer' | 'string' | 'array';
  readonly format?: 'int32' | 'int64';
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly string[];
  readonly minLength?: number;
  readonly items?: ParameterSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
};

export type Values<Parameters> = {
  readonly [Name in keyof Parameters]: Parameters[Name] extends Parameter<infer Value>
    ? Value
    : never;
};

export interface IdParameter extends Parameter<bigint> {
  /** The name in the path, such as `petId`. */
  readonly name: string;
  /** The resource with this id, such as `pet`. */
  readonly resource: string;
}

export const entryPetId = defineIdParameter('petId', 'inventory entry');

/* @__NO_SIDE_EFFECTS__ so that a function bundles only the ids that it uses */
export function defineIdParameter(name: string, resource: string): IdParameter {
  return {
    name,
    resource,
    parse: parseInt64,
    error: INT64_ERROR,
    description: `The id of the ${resource}.`,
    schema: { type: 'integer', format: 'int64' },
  };
}
