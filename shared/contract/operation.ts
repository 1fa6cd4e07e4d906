import type * as z from 'zod/mini';
import type { ErrorCode } from './errors/errorBody.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { Parameter } from './parameters/parameter.ts';

/** What an API key allows. `write` includes `read`. */
export type Permission = 'read' | 'write';

/** One row of the service's contract; what it answers stands beside it in `operations.ts`. */
export interface Operation {
  readonly operationId: string;
  readonly method: 'GET' | 'PATCH';
  /** Relative to the base address, with parameters in braces. */
  readonly path: `/${string}`;
  readonly summary: string;
  readonly lifecycle: Lifecycle;
  readonly permission: Permission;
  /** The parameters of `path`. */
  readonly parameters?: Readonly<Record<string, Parameter<unknown>>>;
  /** The query's parameters, all optional; names that it does not have are ignored. */
  readonly query?: Readonly<Record<string, Parameter<unknown>>>;
  /** Pairs of query parameters of which a request can have but one. */
  readonly exclusive?: readonly (readonly [string, string])[];
  /** The headers that it heeds beside those that every operation does. */
  readonly requestHeaders?: readonly ('If-Match' | 'If-None-Match' | 'Idempotency-Key')[];
  readonly requestBody?: z.ZodMiniType;
  /** Whether a 200 always has an `ETag`; one that is updated with `If-Match` has it anyway. */
  readonly tagged?: boolean;
  /** Whether the body is sent while it is being read, so that it may outgrow a buffered answer. */
  readonly streamed: boolean;
  /** What can go wrong apart from 429 and 5xx, which any operation can answer. */
  readonly errors: readonly ErrorCode[];
}
