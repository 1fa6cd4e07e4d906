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
      /** The page that says what to call instead (`Link`, relation `deprecation`). */
      readonly documentation: string;
    };
