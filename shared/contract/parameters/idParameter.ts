import { INT64_ERROR, parseInt64 } from '../values/parseInt64.ts';
import type { Parameter } from './parameter.ts';

/** The id of something, in a path. */
export interface IdParameter extends Parameter<bigint> {
  /** As the path has it, such as `petId`. */
  readonly name: string;
  /** What has the id, such as `pet`. */
  readonly resource: string;
}

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
