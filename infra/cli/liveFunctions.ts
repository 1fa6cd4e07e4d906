import {
  GetAliasCommand,
  LambdaClient,
  paginateListVersionsByFunction,
} from '@aws-sdk/client-lambda';
import { type OperationId, operationIds } from '../../shared/contract/operations.ts';
import type { Release } from '../stages/commit.ts';
import { liveAlias, toNames } from '../stages/resourceNames.ts';
import type { Stage } from '../stages/stages.ts';
import { checkPlace, ignoring, type OpenStage } from './stageStack.ts';

export type LiveFunction = NonNullable<Awaited<ReturnType<typeof readLiveFunction>>>;
export type PublishedVersion = LiveFunction['live'];

/**
 * What serves a stage now, by its aliases, with the commits of its versions.
 * @param releases newest first
 * @returns the functions that exist: before the first deployment with a new operation, that one does not
 * @throws {Error} when none exists, or one belongs in another account or region
 */
export async function readLiveFunctions(
  { stage, open }: OpenStage,
  releases: readonly Release[],
): Promise<LiveFunction[]> {
  const client = open(LambdaClient);
  const read = await Promise.all(
    operationIds.map((id) =>
      ignoring('ResourceNotFoundException', readLiveFunction(client, stage, id)),
    ),
  );
  const functions = read.filter((one) => one !== undefined);
  if (functions.length === 0)
    throw new Error(`${stage.name} has no function with an alias ${liveAlias}.`);
  // A version may be of many commits. If one commit is live as a whole, it is that one.
  const whole = releases.find(({ digests }) =>
    functions.every(({ operationId, live }) => live.digest === digests[operationId]),
  );
  for (const { operationId, versions } of functions) {
    for (const version of versions) {
      const isOf = ({ digests }: Release) => digests[operationId] === version.digest;
      const release = whole && isOf(whole) ? whole : releases.find(isOf);
      if (release) version.commit = release.commit;
    }
  }
  return functions;
}

/** The operations whose functions do not exist, as before the first deployment of a release that adds one. */
export function findMissing(functions: readonly LiveFunction[]): OperationId[] {
  return operationIds.filter((id) => !functions.some(({ operationId }) => operationId === id));
}

/** The commits that serve a stage: one, or several during a deployment and after a partial rollback. */
export function findLiveCommits(functions: readonly LiveFunction[]): string {
  const served = functions.flatMap(({ versions }) => versions.filter(({ share }) => share > 0));
  return [...new Set(served.map(({ commit }) => commit || 'not known'))].join(' and ');
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
    .map(({ Version = '', Description = '', LastModified = '' }) => ({
      version: Number(Version),
      /** Of its bundle and configuration. */
      digest: Description,
      /** The commit that it was deployed from. During its canary, no release has it yet: then its digest. */
      commit: Description,
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
