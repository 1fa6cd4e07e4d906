import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { toStackName } from '../stages/resourceNames.ts';
import { type Stage, stagesFile } from '../stages/stages.ts';
import { toRegion } from './stageOption.ts';

/** The CloudFormation stack of a deployed stage. */
export interface StageStack {
  readonly stage: Stage;
  readonly name: string;
  /** Such as `UPDATE_COMPLETE`. */
  readonly status: string;
  readonly outputs: Readonly<Record<string, string>>;
  /** Makes a client of an AWS service, with the region and the credentials of the stack. */
  readonly open: ReturnType<typeof defineOpen>;
}

/**
 * Finds a stage's stack. A command makes every other client with it, so that none calls an account that the settings
 * do not name.
 * @param limits of every client, such as how long it waits for a response
 * @throws {Error} when the stage was never deployed there, or belongs in another account or region
 */
export async function readStack(stage: Stage, limits: object = {}): Promise<StageStack> {
  const name = toStackName(stage);
  const open = defineOpen(stage, limits);
  const client = open(CloudFormationClient);
  const command = new DescribeStacksCommand({ StackName: name });
  const { Stacks = [] } = await client.send(command).catch(async (error: Error) => {
    if (!/does not exist/.test(error.message)) throw error;
    throw new Error(
      `There is no stack ${name} in ${await client.config.region()} of this account: npm run deploy ${name} makes it; or export AWS_REGION or AWS_PROFILE of where it is.`,
    );
  });
  const [stack] = Stacks;
  checkPlace(stage, name, stack?.StackId ?? '');
  const outputs = stack?.Outputs?.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]);
  const status = stack?.StackStatus ?? '';
  return { stage, name, status, outputs: Object.fromEntries(outputs ?? []), open };
}

export function readOutput({ name, outputs }: StageStack, output: string): string {
  const found = outputs[output];
  if (found !== undefined) return found;
  throw new Error(
    `The stack ${name} has no output ${output}: npm run deploy ${name} brings it up to date.`,
  );
}

/** @param stackId such as `arn:aws:cloudformation:eu-west-1:123456789012:stack/petstore-staging/…` */
function checkPlace({ name: stage, settings }: Stage, name: string, stackId: string): void {
  const [, , , region = '', account = ''] = stackId.split(':');
  const wanted = { account: settings.account ?? account, region: settings.region ?? region };
  if (wanted.account === account && wanted.region === region) return;
  throw new Error(
    `The stack ${name} that was found is in account ${account}, ${region}, and ${stagesFile} puts ${stage} into account ${wanted.account}, ${wanted.region}: nothing was done. Export AWS_PROFILE of that account, or correct the settings.`,
  );
}

/** The part of an AWS client that `defineOpen` uses. */
interface AwsClient {
  readonly config: { readonly serviceId: string };
  readonly middlewareStack: {
    add(
      middleware: <Args, Response>(
        next: (args: Args) => Promise<Response>,
      ) => (args: Args) => Promise<Response>,
      options: { readonly step: 'initialize' },
    ): void;
  };
}

/** Makes clients for a stage. Unlike the SDK's own, their errors name the service. */
function defineOpen(stage: Stage, limits: object) {
  return function open<Settings extends object, Client extends AwsClient>(
    Client: new (settings: Settings) => Client,
    settings?: Settings,
  ): Client {
    const client = new Client({ ...limits, ...settings, ...toRegion(stage) } as Settings);
    const { serviceId } = client.config;
    client.middlewareStack.add(
      (next) => (args) =>
        next(args).catch((error: object) => {
          throw Object.assign(error, { serviceId });
        }),
      { step: 'initialize' },
    );
    return client;
  };
}
