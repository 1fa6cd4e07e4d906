import { GetParameterCommand, paginateGetParameterHistory, SSMClient } from '@aws-sdk/client-ssm';
import type { Release } from '../stages/commit.ts';
import { toNames } from '../stages/resourceNames.ts';
import { ignoring, type OpenStage } from './stageStack.ts';

/** A value in the stage's Parameter Store; `undefined` if there is none. */
export async function readParameter(
  { open }: OpenStage,
  Name: string,
): Promise<string | undefined> {
  const command = new GetParameterCommand({ Name, WithDecryption: true });
  const found = await ignoring('ParameterNotFound', open(SSMClient).send(command));
  return found?.Parameter?.Value;
}

/** What was deployed to a stage, newest first: the last 100 releases. There is none until the first deployment ends. */
export async function readReleases({ stage, open }: OpenStage): Promise<Release[]> {
  const Name = toNames(stage).releaseParameter;
  const pages = paginateGetParameterHistory({ client: open(SSMClient) }, { Name });
  const found = (await ignoring('ParameterNotFound', Array.fromAsync(pages))) ?? [];
  return found
    .flatMap(({ Parameters = [] }) => Parameters)
    .sort((one, other) => (other.Version ?? 0) - (one.Version ?? 0))
    .map(({ Value = '' }): Release => JSON.parse(Value));
}
