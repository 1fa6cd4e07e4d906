/** What the canned DynamoDB holds, as it is told in a message. */
export interface CannedTable {
  /** How long the inventory is. */
  readonly entries: number;
  /** The record of the only valid API key. */
  readonly key: Record<string, string>;
}
