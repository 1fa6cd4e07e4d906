/** A handler's successful reply. */
export type Reply = DocumentReply | PagesReply;

export interface DocumentReply {
  readonly body: unknown;
  /** Becomes the `ETag`, if present. */
  readonly version?: string;
  /** The cursor of the next page, which becomes the `next` link. */
  readonly next?: string | undefined;
  /** Whether it is the response of an earlier attempt, which becomes `Idempotent-Replayed`. */
  readonly isReplay?: boolean | undefined;
}

/** A streamed list. */
export interface PagesReply {
  readonly pages: Pages;
}

export type Pages = AsyncGenerator<
  {
    /** Elements in JSON, separated by commas. */
    readonly items: Buffer;
    readonly isLast: boolean;
  },
  void,
  undefined
>;
