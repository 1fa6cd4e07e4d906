import { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import type { OpenStage } from './stageStack.ts';

/** A value in the stage's Parameter Store; `undefined` if there is none. */
export async function readParameter(
  { open }: OpenStage,
  Name: string,
): Promise<string | undefined> {
  try {
    const command = new GetParameterCommand({ Name, WithDecryption: true });
    return (await open(SSMClient).send(command)).Parameter?.Value;
  } catch (error) {
    if ((error as Error).name === 'ParameterNotFound') return undefined;
    throw error;
  }
}
