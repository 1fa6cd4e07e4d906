import {
  GetAliasCommand,
  LambdaClient,
  paginateListVersionsByFunction,
} from '@aws-sdk/client-lambda';
import { type OperationId, operationIds } from '../../shared/contract/operations.ts';
import { liveAlias, toNames } from '../stages/resourceNames.ts';
import type { Stage } from '../stages/stages.ts';
import { checkPlace, type OpenStage } from './stageStack.ts';

/** The versions of an operation's function. */
export type LiveFunction = Awaited<ReturnType<typeof readLiveFunction>>;
export type PublishedVersion = LiveFunction['live'];

/**
 * What serves a stage now, by its aliases.
 * @throws {Error} when a function does not exist, or belongs in another account or region
 */
export function readLiveFunctions({ stage, open }: OpenStage): Promise<LiveFunction[]> {
  const client = open(LambdaClient);
  return Promise.all(operationIds.map((id) => readLiveFunction(client, stage, id)));
}

/**
 * The commits that serve a stage: `3f2a9c0d1e2f`, or several with their shares, such as
 * `3f2a9c0d1e2f 90% and 5a0c7d9e1b2c 10%`. Operations are named if their commits differ.
 */
export function toLiveText(functions: readonly LiveFunction[]): string {
  const groups = [...Map.groupBy(functions, toCommitsText)];
  const [[text = ''] = []] = groups;
  if (groups.length === 1) return text;
  return groups
    .map(
      ([commits, some]) => `${commits} (${some.map(({ operationId }) => operationId).join(', ')})`,
    )
    .join(', ');
}

/** Such as `10%`. */
export function toPercent(share: number): string {
  return `${Math.round(share * 100)}%`;
}

function toCommitsText({ versions }: LiveFunction): string {
  const served = versions.filter(({ share }) => share > 0).toReversed();
  const byCommit = Map.groupBy(served, ({ commit }) => commit || 'not known');
  return Array.from(byCommit, ([commit, some]) => {
    const share = some.reduce((sum, one) => sum + one.share, 0);
    return byCommit.size === 1 ? commit : `${commit} ${toPercent(share)}`;
  }).join(' and ');
}

async function readLiveFunction(client: LambdaClient, stage: Stage, operationId: OperationId) {
  const functionName = toNames(stage).toFunction(operationId);
  const FunctionName = functionName;
  const [alias, pages] = await Promise.all([
    client.send(new GetAliasCommand({ FunctionName, Name: liveAlias })),
    Array.fromAsync(paginateListVersionsByFunction({ client }, { FunctionName })),
  ]);
  checkPlace(stage, `The function ${functionName}`, alias.AliasArn ?? '');
  const weights = alias.RoutingConfig?.AdditionalVersionWeights ?? {};
  const rest = 1 - Object.values(weights).reduce((sum, share) => sum + share, 0);
  // Newest first.
  const versions = pages
    .flatMap(({ Versions = [] }) => Versions)
    // Unpublished code is named $LATEST.
    .filter(({ Version = '' }) => /^\d+$/.test(Version))
    .map(({ Version = '', Description = '', CodeSha256 = '', LastModified = '' }) => ({
      version: Number(Version),
      /** The commit that it was deployed from; empty where it is unknown. */
      commit: Description,
      /** The SHA-256 of its code. Commits that change only documents have the same code. */
      code: CodeSha256,
      /** As RFC 3339. Lambda writes the zone as +0000. */
      publishedAt: LastModified.replace('+0000', 'Z'),
      /** Its share of the requests: 1 or 0, except during a gradual deployment. */
      share: Version === alias.FunctionVersion ? rest : (weights[Version] ?? 0),
    }))
    .sort((one, other) => other.version - one.version);
  // The newest that serves at least a part of the requests.
  const live = versions.find(({ share }) => share > 0);
  if (!live) throw new Error(`No version of ${functionName} is behind its alias ${liveAlias}.`);
  // It changes with the alias, so that a move can require what was shown.
  const { RevisionId: revisionId = '' } = alias;
  return { operationId, functionName, revisionId, live, versions };
}
