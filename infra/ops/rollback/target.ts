import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import { UsageError } from '../../cli/usage.ts';

/** Where to go, as typed: every function to one commit, or some of them to a version each. */
export type Target =
  | { readonly commit: string }
  | { readonly versions: ReadonlyMap<OperationId, number> };

/** @throws {UsageError} when it is neither one commit nor operations with their versions */
export function parseTarget(words: readonly string[]): Target | undefined {
  const [word, ...more] = words;
  if (word === undefined) return undefined;
  if (more.length === 0 && /^[\w.-]{7,64}$/.test(word)) return { commit: word };
  const versions = new Map(words.map(parseVersion));
  if (versions.size < words.length) throw new UsageError('--to names an operation twice.');
  return { versions };
}

function parseVersion(word: string): [OperationId, number] {
  const [, name, version] = /^(\w+)=([1-9]\d{0,8})$/.exec(word) ?? [];
  const operationId = operationIds.find((id) => id === name);
  if (operationId !== undefined) return [operationId, Number(version)];
  throw new UsageError(
    `--to must be a commit, at least its first 7 characters, or such as getPet=12 for one or more of ${operationIds.join(', ')}; it is "${word}".`,
  );
}
