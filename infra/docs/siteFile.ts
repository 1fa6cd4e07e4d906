/** A file of the documentation. */
export interface SiteFile {
  /** Its media type. */
  readonly type: string;
  /** What a page may load and call (`Content-Security-Policy`); the page itself says so too. */
  readonly policy?: string;
  readonly body: string | Buffer;
}

/** The files of the documentation by their names, all in one folder. */
export type Site = ReadonlyMap<string, SiteFile>;

/** A stage on the reader's own machine, which the pages then call. */
export interface LocalAccess {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  /** Where the site itself lies, without a slash at the end. */
  readonly documentationAddress: string;
  /** It stands in the pages: never the key of a stage that others can reach. */
  readonly apiKey: string;
}
