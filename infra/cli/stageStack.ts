import {
  CloudFormationClient,
  DescribeStacksCommand,
  type Stack,
} from '@aws-sdk/client-cloudformation';
import { toNames } from '../stages/resourceNames.ts';
import { type Stage, stagesFile } from '../stages/stages.ts';
import { toErrorLine } from './errorLine.ts';
import { findRegion } from './stageOption.ts';

export type StageStack = Awaited<ReturnType<typeof readStack>>;

/** A stage on AWS. Every resource of its stack has a name that is known without CloudFormation. */
export type OpenStage = Pick<StageStack, 'stage' | 'name' | 'open'>;

/** What AWS returned, or one line on why it could not be read. */
export type Part<Value> = { readonly value: Value } | { readonly unread: string };

export async function settle<Value>(reading: Promise<Value>): Promise<Part<Value>> {
  try {
    return { value: await reading };
  } catch (error) {
    return { unread: toErrorLine(error) };
  }
}

/** What a call returns; `undefined` if it fails with this error. */
export async function ignoring<Value>(
  errorName: string,
  call: Promise<Value>,
): Promise<Value | undefined> {
  try {
    return await call;
  } catch (error) {
    if ((error as Error).name === errorName) return undefined;
    throw error;
  }
}

/** A stage was never deployed to this account and region. */
export class NoStackError extends Error {}

/** A service that does not respond must not hold up a command. */
const limits = {
  maxAttempts: 3,
  requestHandler: { connectionTimeout: 5_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
};

/**
 * As `readStack`, for commands that help also while AWS does not respond.
 * @throws {Error} as `readStack`, if CloudFormation responds
 */
export async function openStage(
  stage: Stage,
): Promise<OpenStage & { readonly status: Part<string> }> {
  try {
    const { name, open, status } = await readStack(stage);
    return { stage, name, open, status: { value: status } };
  } catch (error) {
    // Only errors of AWS's services have it.
    if (!Object.hasOwn(error as object, 'serviceId')) throw error;
    const status = { unread: toErrorLine(error) };
    return { stage, name: toNames(stage).stack, open: defineOpen(stage), status };
  }
}

/**
 * Finds a stage's stack. A command makes every other client with it, so that none calls an account that the settings
 * do not name.
 * @throws {Error} when the stage was never deployed there, or belongs in another account or region
 */
export async function readStack(stage: Stage) {
  const name = toNames(stage).stack;
  const open = defineOpen(stage);
  const client = open(CloudFormationClient);
  const stack = await describeStack(client, name);
  if (!stack) {
    throw new NoStackError(
      `There is no stack ${name} in ${await client.config.region()} of this account: npm run deploy ${name} makes it; or export AWS_REGION or AWS_PROFILE of where it is.`,
    );
  }
  checkPlace(stage, `The stack ${name}`, stack.StackId ?? '');
  const outputs = new Map(stack.Outputs?.map((one) => [one.OutputKey, one.OutputValue]));
  /** Such as `UPDATE_COMPLETE`. */
  const status: string = stack.StackStatus ?? '';
  return { stage, name, status, outputs, open };
}

/** A stack as it is now; `undefined` if there is none of this name. */
export async function describeStack(
  client: CloudFormationClient,
  StackName: string,
): Promise<Stack | undefined> {
  try {
    return (await client.send(new DescribeStacksCommand({ StackName }))).Stacks?.[0];
  } catch (error) {
    if (/does not exist/.test((error as Error).message)) return undefined;
    throw error;
  }
}

export function readOutput({ name, outputs }: StageStack, output: string): string {
  const found = outputs.get(output);
  if (found !== undefined) return found;
  throw new Error(
    `The stack ${name} has no output ${output}: npm run deploy ${name} brings it up to date.`,
  );
}

/**
 * @param arn such as `arn:aws:cloudformation:eu-west-1:123456789012:stack/petstore-staging/…`
 * @throws {Error} if the settings put the stage somewhere else
 */
export function checkPlace({ name: stage, settings }: Stage, name: string, arn: string): void {
  const [, , , region = '', account = ''] = arn.split(':');
  const wanted = { account: settings.account ?? account, region: settings.region ?? region };
  if (wanted.account === account && wanted.region === region) return;
  throw new Error(
    `${name} that was found is in account ${account}, ${region}, and ${stagesFile} puts ${stage} into account ${wanted.account}, ${wanted.region}: nothing was done. Export AWS_PROFILE of that account, or correct the settings.`,
  );
}

/**
 * Makes clients of AWS services, with the region of a stage and the credentials of its stack. Unlike the SDK's own,
 * their errors name the service. Calls without settings share one client of each service, and so its connections.
 */
function defineOpen(stage: Stage) {
  const opened = new Map<unknown, unknown>();
  return function open<Settings extends object, Client>(
    Client: new (settings: Settings) => Client,
    settings?: Settings,
  ): Client {
    const known = opened.get(Client);
    if (known && !settings) return known as Client;
    const client = new Client({ ...limits, ...settings, ...findRegion(stage) } as Settings);
    // Every client has the same configuration and middleware, but for the types of its calls.
    const { config, middlewareStack } = client as CloudFormationClient;
    middlewareStack.add(
      (next) => (args) =>
        next(args).catch((error: object) => {
          throw Object.assign(error, { serviceId: config.serviceId });
        }),
      { step: 'initialize' },
    );
    if (!settings) opened.set(Client, client);
    return client;
  };
}
