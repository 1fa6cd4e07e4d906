import {
  GetAliasCommand,
  LambdaClient,
  paginateListVersionsByFunction,
} from '@aws-sdk/client-lambda';
import { type OperationId, operationIds } from '../../shared/contract/operations.ts';
import { liveAlias, toNames } from '../stages/resourceNames.ts';
import type { Stage } from '../stages/stages.ts';
import { checkPlace, type OpenStage } from './stageStack.ts';

export interface PublishedVersion {
  readonly version: number;
  /** The commit that it was deployed from; empty where it is unknown. */
  readonly commit: string;
  /** The SHA-256 of its code. Commits that change only documents have the same code. */
  readonly code: string;
  readonly publishedAt: string;
}

/** The versions that serve an operation's requests, and the others. */
export interface LiveFunction {
  readonly operationId: OperationId;
  readonly functionName: string;
  /** Changes with the alias, so that a move can require what was shown. */
  readonly revisionId: string;
  /** Versions with their share of the requests: one, except during a gradual deployment. */
  readonly served: ReadonlyMap<number, number>;
  /** Newest first. */
  readonly versions: readonly PublishedVersion[];
}

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

function toCommitsText({ served, versions }: LiveFunction): string {
  const shares = new Map<string, number>();
  for (const [version, share] of served) {
    const commit = versions.find((one) => one.version === version)?.commit || 'not known';
    shares.set(commit, (shares.get(commit) ?? 0) + share);
  }
  const whole = shares.size === 1;
  return [...shares]
    .map(([commit, share]) => (whole ? commit : `${commit} ${toPercent(share)}`))
    .join(' and ');
}

async function readLiveFunction(
  client: LambdaClient,
  stage: Stage,
  operationId: OperationId,
): Promise<LiveFunction> {
  const functionName = toNames(stage).toFunction(operationId);
  const FunctionName = functionName;
  const [alias, pages] = await Promise.all([
    client.send(new GetAliasCommand({ FunctionName, Name: liveAlias })),
    Array.fromAsync(paginateListVersionsByFunction({ client }, { FunctionName })),
  ]);
  checkPlace(stage, `The function ${functionName}`, alias.AliasArn ?? '');
  const shares = Object.entries(alias.RoutingConfig?.AdditionalVersionWeights ?? {}).map(
    ([version, share]) => [Number(version), share] as const,
  );
  const rest = 1 - shares.reduce((sum, [, share]) => sum + share, 0);
  const served = [[Number(alias.FunctionVersion), rest] as const, ...shares];
  const versions = pages
    .flatMap(({ Versions = [] }) => Versions)
    // Unpublished code is named $LATEST.
    .filter(({ Version = '' }) => /^\d+$/.test(Version))
    .map(({ Version, Description = '', CodeSha256 = '', LastModified = '' }) => ({
      version: Number(Version),
      commit: Description,
      code: CodeSha256,
      publishedAt: LastModified,
    }));
  return {
    operationId,
    functionName,
    revisionId: alias.RevisionId ?? '',
    served: new Map(served.filter(([, share]) => share > 0)),
    versions: versions.sort((one, other) => other.version - one.version),
  };
}
