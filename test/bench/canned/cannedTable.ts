/** What the canned DynamoDB holds, as it is told in a message. */
export interface CannedTable {
  /** How long the inventory is. */
  readonly entries: number;
  /** The record of the only valid API key. */
  readonly key: Record<string, string>;
  /** How long each answer takes; none by default. */
  readonly delayMilliseconds?: number;
}

/** Where the canned DynamoDB answers. */
export interface CannedEndpoints {
  readonly endpoint: string;
  /** The same over TLS, as DynamoDB itself does. */
  readonly secureEndpoint: string;
  /** What a function has to trust there, in PEM. */
  readonly certificate: string;
}
