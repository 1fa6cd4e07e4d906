import {
  GetAliasCommand,
  type LambdaClient,
  paginateListVersionsByFunction,
} from '@aws-sdk/client-lambda';
import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import { toFunctionName } from '../../stages/resourceNames.ts';
import type { Stage } from '../../stages/stages.ts';

/** The alias that the gateway calls. */
export const aliasName = 'live';

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

/** @throws {Error} when a function is not there */
export function readLiveFunctions(client: LambdaClient, stage: Stage): Promise<LiveFunction[]> {
  return Promise.all(operationIds.map((id) => readLiveFunction(client, stage, id)));
}

/** The newest version that serves at least a part of the requests. */
export function newestServed({ served }: LiveFunction): number {
  return Math.max(...served.keys());
}

export function serves({ served }: LiveFunction, version: number): boolean {
  return served.size === 1 && served.has(version);
}

async function readLiveFunction(
  client: LambdaClient,
  stage: Stage,
  operationId: OperationId,
): Promise<LiveFunction> {
  const functionName = toFunctionName(stage, operationId);
  const [alias, versions] = await Promise.all([
    client.send(new GetAliasCommand({ FunctionName: functionName, Name: aliasName })),
    readVersions(client, functionName),
  ]);
  const shares = Object.entries(alias.RoutingConfig?.AdditionalVersionWeights ?? {}).map(
    ([version, share]) => [Number(version), share] as const,
  );
  const rest = 1 - shares.reduce((sum, [, share]) => sum + share, 0);
  return {
    operationId,
    functionName,
    revisionId: alias.RevisionId ?? '',
    served: new Map([[Number(alias.FunctionVersion), rest], ...shares]),
    versions,
  };
}

async function readVersions(
  client: LambdaClient,
  functionName: string,
): Promise<PublishedVersion[]> {
  const versions: PublishedVersion[] = [];
  const pages = paginateListVersionsByFunction({ client }, { FunctionName: functionName });
  for await (const { Versions = [] } of pages) {
    for (const { Version, Description = '', LastModified = '' } of Versions) {
      // What is not published goes by the name of $LATEST.
      if (!/^\d+$/.test(Version ?? '')) continue;
      versions.push({ version: Number(Version), commit: Description, publishedAt: LastModified });
    }
  }
  return versions.sort((one, other) => other.version - one.version);
}
