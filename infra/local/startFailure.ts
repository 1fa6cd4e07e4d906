/** What whoever starts the local stage can put right: told in one line, without a stack. */
export class StartFailure extends Error {
  override readonly name = 'StartFailure';
}
