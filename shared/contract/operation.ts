import type * as z from 'zod/mini';
import type { ErrorCode } from './errorBody.ts';
import type { Parameter } from './parameters.ts';

/** The contract's major version. It is the name of the gateway's stage and ends every base URL. */
export const apiVersion = 'v1';

export const httpMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type HttpMethod = (typeof httpMethods)[number];

/** What an API key allows. `write` includes `read`. */
export type Permission = 'read' | 'write';

/** One row of the contract. Its response body is in `operations.ts`. */
export interface Operation {
  readonly operationId: string;
  readonly method: HttpMethod;
  /** Relative to the base URL, with parameters in braces. */
  readonly path: `/${string}`;
  readonly summary: string;
  readonly lifecycle: Lifecycle;
  readonly permission: Permission;
  readonly parameters?: Readonly<Record<string, Parameter<unknown>>>;
  /** The query's parameters, all optional. Unknown names are ignored, except other spellings of these. */
  readonly query?: Readonly<Record<string, Parameter<unknown>>>;
  /** Pairs of query parameters that a request cannot combine. */
  readonly exclusive?: readonly (readonly [string, string])[];
  /** The headers that it reads besides those that every operation reads. An `Idempotency-Key` is required. */
  readonly requestHeaders?: readonly ('If-Match' | 'If-None-Match' | 'Idempotency-Key')[];
  readonly requestBody?: z.ZodMiniType;
  /**
   * A valid body for warm-ups and probes, which must change nothing. With `If-None-Match: *`, or with `UNUSED_ID` in the
   * path or in the body, it does not.
   */
  readonly harmlessBody?: string;
  /** Whether the response is streamed, so that it may exceed the size of a buffered response. */
  readonly streamed: boolean;
  /** Its error codes, without 429 and 5xx, which any operation can return. */
  readonly errors: readonly ErrorCode[];
}

/** How far a client may rely on an operation. */
export type Lifecycle =
  | { readonly kind: 'stable' }
  /** It is complete, and may still change without a new major version, with notice. */
  | { readonly kind: 'beta' }
  /** It may change, or be removed, without a new major version. */
  | { readonly kind: 'experimental' }
  | {
      readonly kind: 'deprecated';
      /** The instant of the `Deprecation` header (RFC 9745). */
      readonly since: Date;
      /** The instant of the `Sunset` header (RFC 8594). The operation may be removed after it. */
      readonly sunset: Date;
      /** The documentation of its replacement (`Link`, relation `deprecation`). */
      readonly guide: string;
    };

/** @param documentationAddress without a trailing slash */
export function toLifecycleHeaders(
  lifecycle: Lifecycle,
  documentationAddress: string,
): Record<string, string> {
  if (lifecycle.kind !== 'deprecated') return {};
  return {
    Deprecation: `@${lifecycle.since.getTime() / 1000}`,
    Sunset: lifecycle.sunset.toUTCString(),
    Link: `<${documentationAddress}/${lifecycle.guide}>; rel="deprecation"`,
  };
}
