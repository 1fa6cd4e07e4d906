/**
 * What keeps the local stage from starting, or from going on: told in one line, without a stack, to whoever
 * started it.
 */
export class StartFailure extends Error {
  override readonly name = 'StartFailure';
}
