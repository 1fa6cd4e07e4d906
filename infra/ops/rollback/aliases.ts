import { type LambdaClient, UpdateAliasCommand } from '@aws-sdk/client-lambda';
import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import { toErrorLine } from '../../cli/errorLine.ts';
import { findMissing, type LiveFunction, type PublishedVersion } from '../../cli/liveFunctions.ts';
import { log } from '../../cli/output.ts';
import { UsageError } from '../../cli/usage.ts';
import type { Release } from '../../stages/commit.ts';
import { liveAlias } from '../../stages/resourceNames.ts';

export interface Move {
  readonly from: LiveFunction;
  readonly to: PublishedVersion;
  readonly commit: string;
}

/** The newest version of a function that is of a release. */
function findVersion({ operationId, versions }: LiveFunction, { digests }: Release) {
  return versions.find(({ digest }) => digest === digests[operationId]);
}

/** Whether the function is there already, for all its requests. */
export function isDone({ to }: Move): boolean {
  return to.share === 1;
}

/** The target as typed: one commit for every function, or a version each for some functions. */
type Target = string | ReadonlyMap<OperationId, number>;

/** @throws {UsageError} when it is neither one commit nor operations with their versions */
export function parseTarget(words: readonly string[]): Target | undefined {
  const [word, ...more] = words;
  if (word === undefined) return undefined;
  if (more.length === 0 && /^[\w.-]{7,64}$/.test(word)) return word;
  return new Map(words.map(parseVersion));
}

function parseVersion(word: string): [OperationId, number] {
  const [, name, version] = /^(\w+)=([1-9]\d{0,8})$/.exec(word) ?? [];
  const operationId = operationIds.find((id) => id === name);
  if (operationId !== undefined) return [operationId, Number(version)];
  throw new UsageError(
    `--to must be a commit, at least its first 7 characters, or versions such as updateInventory=12 of ${operationIds.join(', ')}; it is "${word}".`,
  );
}

/**
 * The target version of each function, also if it is live already.
 * @throws {Error} when a function is not deployed or does not have the version, or the target may mean several commits
 */
export function chooseMoves(
  functions: readonly LiveFunction[],
  releases: readonly Release[],
  target: Target,
): Move[] {
  const release = typeof target === 'string' ? findRelease(releases, target) : undefined;
  const missing = findMissing(functions).find((id) => typeof target !== 'string' && target.has(id));
  if (missing) throw new Error(`Nothing was moved: ${missing} is not deployed.`);
  return functions.flatMap((from) => {
    const version = typeof target === 'string' ? undefined : target.get(from.operationId);
    // With a commit, a function that was added later stays as it is.
    if (release ? !(from.operationId in release.digests) : version === undefined) return [];
    const to = release
      ? findVersion(from, release)
      : from.versions.find((one) => one.version === version);
    if (to) return [{ from, to, commit: release?.commit ?? to.commit }];
    throw new Error(
      `Nothing was moved: ${from.operationId} has no version ${version ?? release?.commit}.`,
    );
  });
}

/** Finds the newest release of a commit, by its first characters or all 40; a release has 12. */
function findRelease(releases: readonly Release[], typed: string): Release {
  const commits = new Set(releases.map(({ commit }) => commit));
  const isMeant = (commit: string) =>
    commit.startsWith(typed) || (/^[0-9a-f]{40}$/.test(typed) && typed.startsWith(commit));
  const meant = commits.has(typed) ? [typed] : [...commits].filter(isMeant);
  const found = releases.find(({ commit }) => commit === meant[0]);
  if (meant.length === 1 && found) return found;
  throw new Error(
    `Nothing was moved: ${typed} is the commit of ${meant.length === 0 ? 'no version' : `several: ${meant.join(', ')}`}.`,
  );
}

/**
 * The rollback target: the commit before the last deployment. A commit that changed no code is none. Nor is one with
 * known-bad code. A function that was added later stays as it is. A second run only finishes an
 * incomplete rollback.
 * @param releases all, newest first
 * @param knownBad the versions with such code
 * @returns nothing where there is no such commit
 */
export function choosePrevious(
  functions: readonly LiveFunction[],
  releases: readonly Release[],
  knownBad: ReadonlySet<PublishedVersion>,
): Move[] | undefined {
  for (const release of releases) {
    const moves = functions.flatMap((from) => {
      const to = findVersion(from, release);
      return to ? [{ from, to, commit: release.commit }] : [];
    });
    const oldest = moves.map(({ to }) => to.publishedAt).sort()[0] ?? '';
    // The others did not exist then.
    const isWhole = functions.every(
      (from) =>
        moves.some((move) => move.from === from) ||
        (!(from.operationId in release.digests) &&
          from.versions.every(({ publishedAt }) => publishedAt > oldest)),
    );
    const goesBack = moves.some(({ from, to }) => to.digest !== from.versions[0]?.digest);
    if (isWhole && goesBack && !moves.some(({ to }) => knownBad.has(to))) return moves;
  }
  return undefined;
}

/**
 * Moves the aliases one by one and reports each. If one cannot be moved, it continues: some requests on good
 * code are better than none. Each sends all requests to one version, so the weights of a gradual deployment go. A move
 * fails if the alias has changed since it was shown.
 * https://docs.aws.amazon.com/lambda/latest/api/API_UpdateAlias.html
 * @param say prints a line
 * @throws {Error} when not all were moved
 */
export async function moveAliases(
  client: LambdaClient,
  moves: readonly Move[],
  say: (line: string) => void,
): Promise<void> {
  let failed = 0;
  for (const { from, to } of moves) {
    const { operationId, functionName, revisionId } = from;
    const command = new UpdateAliasCommand({
      FunctionName: functionName,
      Name: liveAlias,
      FunctionVersion: String(to.version),
      RoutingConfig: { AdditionalVersionWeights: {} },
      RevisionId: revisionId,
    });
    try {
      await client.send(command);
      say(`${operationId} goes to version ${to.version}.`);
    } catch (error) {
      failed += 1;
      log(`${operationId} was not moved: ${toErrorLine(error)}`);
    }
  }
  if (failed === 0) return;
  throw new Error(
    `${failed} of ${moves.length} aliases were not moved; run the same command again.`,
  );
}
