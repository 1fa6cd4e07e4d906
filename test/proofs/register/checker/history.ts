/** An update, as its client sent it. */
export interface Write {
  readonly kind: 'write';
  readonly quantity: number;
  /** The tags of which the entry must have one; any state will do, without them. */
  readonly ifMatch?: readonly string[];
  /** The `Idempotency-Key`. */
  readonly key?: string;
}

/** What a client asked of an entry: its state with its tag, or an update. */
export type Asked = Write | { readonly kind: 'read' };

export type Outcome =
  /** 200, with the state that it told of: the one that was read, or the one that the update made. */
  | { readonly kind: 'ok'; readonly quantity: number; readonly tag: string }
  /** 412, with the tag that the entry then had. */
  | { readonly kind: 'refused'; readonly tag: string }
  /** A lost connection or a 5xx: it may take effect at any time after it was sent, or never. */
  | { readonly kind: 'unknown' };

/** One request for one entry. Times are of one clock, on which no two events have the same. */
export interface Operation {
  readonly asked: Asked;
  /** When the client began to send it. */
  readonly invoked: number;
  /** When the client had the answer, or gave up; an unknown outcome has no end. */
  readonly answered: number;
  readonly outcome: Outcome;
}

/** A state of the entry. */
export interface Entry {
  readonly quantity: number;
  readonly tag: string;
}

/**
 * Names the request that an update is: sent again it has the same name, and under another key, or with
 * anything else in it, another one. Without a key each is a request of its own, and has no name.
 */
export function toRequestName({ key, ifMatch, quantity }: Write): string | undefined {
  return key === undefined ? undefined : JSON.stringify([key, ifMatch ?? null, quantity]);
}

/** What each entry was before. */
export const first = { quantity: 10, tag: 'A' };
const unknown: Outcome = { kind: 'unknown' };

/** One operation, from its call to its answer. */
export function operation(
  invoked: number,
  answered: number,
  asked: Asked,
  outcome: Outcome,
): Operation {
  return { asked, invoked, answered, outcome };
}

/** A read, from its call to its answer. */
export const read = (invoked: number, answered: number, quantity: number, tag: string) =>
  operation(invoked, answered, { kind: 'read' }, { kind: 'ok', quantity, tag });

type Options = Omit<Write, 'kind' | 'quantity'>;
/** An update that was answered 200. */
export const write = (
  invoked: number,
  answered: number,
  quantity: number,
  tag: string,
  options: Options = {},
) =>
  operation(
    invoked,
    answered,
    { kind: 'write', quantity, ...options },
    { kind: 'ok', quantity, tag },
  );

/** An update that was answered 412, with the tag that the entry then had. */
export const refused = (
  invoked: number,
  answered: number,
  quantity: number,
  tag: string,
  options: Options,
) =>
  operation(invoked, answered, { kind: 'write', quantity, ...options }, { kind: 'refused', tag });

/** An update that was not answered. */
export const lost = (invoked: number, quantity: number, options: Options = {}) =>
  operation(invoked, Number.POSITIVE_INFINITY, { kind: 'write', quantity, ...options }, unknown);

/** Only of the first state. */
export const ofA = { ifMatch: ['A'] };
