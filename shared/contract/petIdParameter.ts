import type { Parameter } from './parameter.ts';
import { INT64_ERROR, parseInt64 } from './parseInt64.ts';

/** The `{petId}` of a path. */
export const petIdParameter: Parameter<bigint> = { parse: parseInt64, error: INT64_ERROR };
