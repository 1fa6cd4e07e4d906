import { INT64_ERROR, parseInt64 } from '../values/parseInt64.ts';
import type { Parameter } from './parameter.ts';

/** The `{petId}` of a path. */
export const petIdParameter: Parameter<bigint> = { parse: parseInt64, error: INT64_ERROR };
