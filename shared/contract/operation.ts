import type * as z from 'zod/mini';
import type { ErrorCode } from './errorBody.ts';
import type { Lifecycle } from './lifecycle.ts';

/** What an API key allows. `write` includes `read`. */
export type Permission = 'read' | 'write';

/** One row of the service's contract. */
export interface Operation {
  readonly operationId: string;
  readonly method: 'GET' | 'PATCH';
  /** Relative to the base address, with parameters in braces. */
  readonly path: `/${string}`;
  readonly summary: string;
  readonly lifecycle: Lifecycle;
  readonly permission: Permission;
  /** The parameters of `path`, from their text in the URL to their value. */
  readonly parameters?: z.core.$ZodType<Record<string, unknown>, Record<string, string>>;
  readonly requestBody?: z.core.$ZodType;
  /** The body of the 200. */
  readonly response: z.core.$ZodType;
  /** Whether the body is sent while it is being read, so that it may outgrow a buffered answer. */
  readonly streamed: boolean;
  /** What can go wrong apart from 429 and 5xx, which any operation can answer. */
  readonly errors: readonly ErrorCode[];
}
