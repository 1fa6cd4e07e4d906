import {
  GetAliasCommand,
  type LambdaClient,
  paginateListVersionsByFunction,
  UpdateAliasCommand,
} from '@aws-sdk/client-lambda';
import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import { toErrorLine } from '../../cli/errorLine.ts';
import { listenForInterruption } from '../../cli/interruption.ts';
import { print, tell } from '../../cli/output.ts';
import { UsageError } from '../../cli/usage.ts';
import { toFunctionName } from '../../stages/resourceNames.ts';
import type { Stage } from '../../stages/stages.ts';

/** The alias that the gateway calls. */
const aliasName = 'live';

export interface PublishedVersion {
  readonly version: number;
  /** The commit that it was deployed from; empty where it is unknown. */
  readonly commit: string;
  readonly publishedAt: string;
}

/** What an operation's requests are served by, and what they could be served by. */
export interface LiveFunction {
  readonly operationId: OperationId;
  readonly functionName: string;
  /** Changes with every change of the alias, so that a move can be bound to what was shown. */
  readonly revisionId: string;
  /** Versions with their share of the requests: one, but for a deployment that moves gradually. */
  readonly served: ReadonlyMap<number, number>;
  /** Newest first. */
  readonly versions: readonly PublishedVersion[];
}

export interface Move {
  readonly from: LiveFunction;
  readonly to: PublishedVersion;
}

/** @throws {Error} when a function is not there */
export function readLiveFunctions(client: LambdaClient, stage: Stage): Promise<LiveFunction[]> {
  return Promise.all(operationIds.map((id) => readLiveFunction(client, stage, id)));
}

/** The newest version that serves at least a part of the requests. */
export function newestServed({ served }: LiveFunction): number {
  return Math.max(...served.keys());
}

export function isDone({ from: { served }, to: { version } }: Move): boolean {
  return served.size === 1 && served.has(version);
}

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

/**
 * The version that each function is to serve, also where it does so already.
 * @throws {UsageError} when the target may mean several commits
 * @throws {Error} when a function does not have the version
 */
export function chooseMoves(functions: readonly LiveFunction[], target: Target): Move[] {
  function findMove(
    from: LiveFunction,
    wanted: string,
    isWanted: (version: PublishedVersion) => boolean,
  ): Move {
    const to = from.versions.find(isWanted);
    if (to) return { from, to };
    throw new Error(`Nothing was moved: ${from.operationId} has no ${wanted}.`);
  }

  if ('versions' in target) {
    return functions.flatMap((from) => {
      const version = target.versions.get(from.operationId);
      if (version === undefined) return [];
      return [findMove(from, `version ${version}`, (one) => one.version === version)];
    });
  }
  const commit = findCommit(functions, target.commit);
  return functions.map((from) =>
    findMove(from, `version of the commit ${commit}`, (one) => one.commit === commit),
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
    const to = from.versions.slice(1).find((version) => isDone({ from, to: version }));
    return to ? [{ from, to }] : [];
  });
  if (settled.length === functions.length) return settled;
  for (const { commit } of functions[0]?.versions ?? []) {
    const moves = functions.flatMap((from) => {
      const newest = newestServed(from);
      const to = from.versions.find((one) => one.commit === commit && one.version <= newest);
      return to ? [{ from, to }] : [];
    });
    const goesBack = moves.some(({ from, to }) => to.version < newestServed(from));
    if (commit !== '' && moves.length === functions.length && goesBack) return moves;
  }
  return undefined;
}

/**
 * Moves one alias after the other and reports each. It goes on past one that cannot be moved, since a part of
 * the requests on good code is better than none, and past a reader that leaves, as `head` does.
 * @returns whether all were moved; if not, the exit status says so
 */
export async function moveAliases(client: LambdaClient, moves: readonly Move[]): Promise<boolean> {
  using interruption = listenForInterruption({ evenUnread: true });
  let moved = 0;
  for (const move of moves) {
    if (interruption.signal.aborted) break;
    const { operationId } = move.from;
    try {
      await moveAlias(client, move);
      moved += 1;
      print(`${operationId} goes to version ${move.to.version}.`);
    } catch (error) {
      tell(`${operationId} was not moved: ${toErrorLine(error)}`);
    }
  }
  if (moved === moves.length) return true;
  const left = `${moves.length - moved} of ${moves.length} aliases were not moved; run the same command again.`;
  tell(interruption.signal.aborted ? `Interrupted: ${left}` : left);
  process.exitCode = interruption.status() || 1;
  return false;
}

async function readLiveFunction(
  client: LambdaClient,
  stage: Stage,
  operationId: OperationId,
): Promise<LiveFunction> {
  const functionName = toFunctionName(stage, operationId);
  const FunctionName = functionName;
  const [alias, pages] = await Promise.all([
    client.send(new GetAliasCommand({ FunctionName, Name: aliasName })),
    Array.fromAsync(paginateListVersionsByFunction({ client }, { FunctionName })),
  ]);
  const shares = Object.entries(alias.RoutingConfig?.AdditionalVersionWeights ?? {}).map(
    ([version, share]) => [Number(version), share] as const,
  );
  const rest = 1 - shares.reduce((sum, [, share]) => sum + share, 0);
  const versions = pages
    .flatMap(({ Versions = [] }) => Versions)
    // What is not published goes by the name of $LATEST.
    .filter(({ Version = '' }) => /^\d+$/.test(Version))
    .map(({ Version, Description = '', LastModified = '' }) => ({
      version: Number(Version),
      commit: Description,
      publishedAt: LastModified,
    }));
  return {
    operationId,
    functionName,
    revisionId: alias.RevisionId ?? '',
    served: new Map([[Number(alias.FunctionVersion), rest], ...shares]),
    versions: versions.sort((one, other) => other.version - one.version),
  };
}

function parseVersion(word: string): [OperationId, number] {
  const [, name, version] = /^(\w+)=([1-9]\d{0,8})$/.exec(word) ?? [];
  const operationId = operationIds.find((id) => id === name);
  if (operationId !== undefined) return [operationId, Number(version)];
  throw new UsageError(
    `--to must be a commit, at least its first 7 characters, or such as getPet=12 for one or more of ${operationIds.join(', ')}; it is "${word}".`,
  );
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

/**
 * All requests to one version. Weights that a gradual deployment left are taken away, and a change of
 * the alias since it was shown is refused.
 * https://docs.aws.amazon.com/lambda/latest/api/API_UpdateAlias.html
 */
async function moveAlias(client: LambdaClient, { from, to }: Move): Promise<void> {
  await client.send(
    new UpdateAliasCommand({
      FunctionName: from.functionName,
      Name: aliasName,
      FunctionVersion: String(to.version),
      RoutingConfig: { AdditionalVersionWeights: {} },
      RevisionId: from.revisionId,
    }),
  );
}
