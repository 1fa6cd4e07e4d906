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
