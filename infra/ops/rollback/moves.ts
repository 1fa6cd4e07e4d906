import { UsageError } from '../../cli/usage.ts';
import {
  type LiveFunction,
  type PublishedVersion,
  serves,
  toNewestServed,
} from './liveFunctions.ts';
import type { Target } from './target.ts';

export interface Move {
  readonly from: LiveFunction;
  readonly to: PublishedVersion;
}

/**
 * The version that each function is to serve, also where it does so already.
 * @throws {UsageError} when the target may mean several commits
 * @throws {Error} when a function does not have the version
 */
export function chooseMoves(functions: readonly LiveFunction[], target: Target): Move[] {
  if ('versions' in target) {
    return functions.flatMap((from) => {
      const version = target.versions.get(from.operationId);
      if (version === undefined) return [];
      return [toMove(from, `version ${version}`, (one) => one.version === version)];
    });
  }
  const commit = findCommit(functions, target.commit);
  return functions.map((from) =>
    toMove(from, `version of the commit ${commit}`, (one) => one.commit === commit),
  );
}

/**
 * The way back to the commit that was deployed before the one that is live: the newest that every
 * function has a version of, none newer than what it serves and at least one older. Functions that were
 * moved there already, by a roll-back that did not come to its end, stay; and once all are back, so does
 * each, so that the same command run again goes no further.
 * @returns nothing where there is no such commit
 */
export function choosePrevious(functions: readonly LiveFunction[]): Move[] | undefined {
  const settled = functions.flatMap((from) => {
    const to = from.versions.slice(1).find(({ version }) => serves(from, version));
    return to ? [{ from, to }] : [];
  });
  if (settled.length === functions.length) return settled;
  for (const { commit } of functions[0]?.versions ?? []) {
    const moves = functions.flatMap((from) => {
      const newest = toNewestServed(from);
      const to = from.versions.find((one) => one.commit === commit && one.version <= newest);
      return to ? [{ from, to }] : [];
    });
    const goesBack = moves.some(({ from, to }) => to.version < toNewestServed(from));
    if (commit !== '' && moves.length === functions.length && goesBack) return moves;
  }
  return undefined;
}

export function isDone({ from, to }: Move): boolean {
  return serves(from, to.version);
}

function toMove(
  from: LiveFunction,
  wanted: string,
  isWanted: (version: PublishedVersion) => boolean,
): Move {
  const to = from.versions.find(isWanted);
  if (to) return { from, to };
  throw new Error(`Nothing was moved: ${from.operationId} has no ${wanted}.`);
}

/** The commit that is meant by its beginning, or by more digits than a description has. */
function findCommit(functions: readonly LiveFunction[], typed: string): string {
  const commits = new Set(
    functions.flatMap(({ versions }) => versions.map(({ commit }) => commit)),
  );
  if (commits.has(typed)) return typed;
  const isWhole = /^[0-9a-f]{13,40}$/.test(typed);
  const meant = [...commits].filter(
    (commit) =>
      commit.startsWith(typed) || (isWhole && commit.length === 12 && typed.startsWith(commit)),
  );
  if (meant.length > 1) {
    throw new UsageError(`--to ${typed} may mean any of ${meant.join(', ')}: type one of them.`);
  }
  if (meant[0] !== undefined) return meant[0];
  throw new Error(`Nothing was moved: no function has a version of the commit ${typed}.`);
}
