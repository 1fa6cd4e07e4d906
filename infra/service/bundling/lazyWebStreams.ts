/**
 * Takes the place of `node:stream/web`. Middy asks whether a body is one of its streams, which loads
 * all of them; here that happens only when there is something to ask about.
 */
export const ReadableStream = {
  [Symbol.hasInstance]: (value: unknown): boolean => value instanceof globalThis.ReadableStream,
};
