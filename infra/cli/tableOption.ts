import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { toStackName } from '../stages/resourceNames.ts';
import { type StageName, stageNames, stages } from '../stages/stages.ts';
import { UsageError } from './usage.ts';

/** Which table a command works on, as typed. */
export interface TableOptions {
  readonly stage?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly table?: string | undefined;
}

export interface Table {
  readonly client: DynamoDBClient;
  readonly tableName: string;
}

/**
 * The table of a deployed stage, found through its stack's output with the ordinary AWS credential
 * chain, or a table of an emulator, which takes any credentials.
 * @param output the name of the stack's output that holds the table's name
 * @throws {UsageError} when it is not clear which table is meant
 */
export async function openTable(output: string, options: TableOptions): Promise<Table> {
  const { stage, endpoint, table } = options;
  if (stage !== undefined && endpoint === undefined && table === undefined) {
    const { client, stackName } = defineStageClient(stage);
    return { client, tableName: await readOutput(stackName, output) };
  }
  if (stage === undefined && endpoint !== undefined && table !== undefined) {
    return { client: defineEmulatorClient(endpoint), tableName: table };
  }
  throw new UsageError(
    'Say which table: --stage staging|production, or --endpoint URL --table NAME.',
  );
}

/** @throws {UsageError} when there is no such stage */
export function defineStageClient(stage: string, settings: DynamoDBClientConfig = {}) {
  if (!Object.hasOwn(stages, stage)) {
    throw new UsageError(`--stage must be ${stageNames.join(' or ')}; it is "${stage}".`);
  }
  const stackName = toStackName(stages[stage as StageName]);
  return { client: new DynamoDBClient(settings), stackName };
}

/** One output of a deployed stack. @throws {Error} when the stack does not have it */
export async function readOutput(stackName: string, output: string): Promise<string> {
  const { Stacks = [] } = await new CloudFormationClient({}).send(
    new DescribeStacksCommand({ StackName: stackName }),
  );
  const found = Stacks[0]?.Outputs?.find(({ OutputKey }) => OutputKey === output)?.OutputValue;
  if (found === undefined)
    throw new Error(`The stack ${stackName} has no output ${output}; deploy it first.`);
  return found;
}

/** Emulators take any credentials. @throws {UsageError} when the endpoint is not a URL */
export function defineEmulatorClient(
  endpoint: string,
  settings: DynamoDBClientConfig = {},
): DynamoDBClient {
  if (!URL.canParse(endpoint) || !/^https?:/.test(endpoint)) {
    throw new UsageError(
      `--endpoint must be a URL such as http://127.0.0.1:8000; it is "${endpoint}".`,
    );
  }
  return new DynamoDBClient({
    ...settings,
    endpoint,
    region: 'local',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
}
