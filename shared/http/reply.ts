/** What an operation's handler answers when all went well. */
export type Reply = DocumentReply | PagesReply;

/** One document. */
export interface DocumentReply {
  readonly body: unknown;
  /** Becomes the `ETag`, where the document has one. */
  readonly version?: string;
  /** The cursor of the page behind this one, which becomes the `next` link. */
  readonly next?: string | undefined;
}

/** An array that is sent while it is read. */
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
