import type * as z from 'zod/mini';
import type { ErrorCode } from './errorBody.ts';
import type { Parameter } from './parameters.ts';

/** The major version of the contract: the name of the gateway's stage, and the end of every base address. */
export const apiVersion = 'v1';

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

/** How far a client may rely on an operation. */
export type Lifecycle =
  | { readonly kind: 'stable' }
  /** It is complete, and may still change without a new major version, with notice. */
  | { readonly kind: 'beta' }
  /** It may change, or go, without a new major version. */
  | { readonly kind: 'experimental' }
  | {
      readonly kind: 'deprecated';
      /** The instant of the `Deprecation` header (RFC 9745). */
      readonly since: Date;
      /** The instant of the `Sunset` header (RFC 8594), after which it may be gone. */
      readonly sunset: Date;
      /** Where the documentation says what to call instead (`Link`, relation `deprecation`). */
      readonly guide: string;
    };

/**
 * What every answer of a deprecated operation carries: `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and
 * a link to the page that says what to do.
 * @param documentationAddress without a slash at the end
 */
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
