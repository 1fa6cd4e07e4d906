import { paginateGetParameterHistory, SSMClient } from '@aws-sdk/client-ssm';
import type { Release } from '../stages/commit.ts';
import { toNames } from '../stages/resourceNames.ts';
import type { OpenStage } from './stageStack.ts';

/** What was deployed to a stage, newest first: the last 100 releases. Release 1.2.0 wrote none. */
export async function readReleases({ stage, open }: OpenStage): Promise<Release[]> {
  const client = open(SSMClient);
  const Name = toNames(stage).releaseParameter;
  try {
    const pages = await Array.fromAsync(paginateGetParameterHistory({ client }, { Name }));
    const values = pages.flatMap(({ Parameters = [] }) => Parameters);
    return values
      .sort((one, other) => (other.Version ?? 0) - (one.Version ?? 0))
      .map(({ Value = '' }): Release => JSON.parse(Value));
  } catch (error) {
    if ((error as Error).name === 'ParameterNotFound') return [];
    throw error;
  }
}
