import { PetstoreError } from '../http/petstoreError.ts';

/**
 * An id as the service reads it.
 * @throws {PetstoreError} when it is no bigint: a number may have been rounded to another pet's id already
 */
export function toPetIdText(petId: bigint): string {
  if (typeof petId === 'bigint') return petId.toString();
  throw new PetstoreError('invalid_request', 'petId must be a bigint, such as 7n or BigInt("7").');
}
