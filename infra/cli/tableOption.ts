import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { toTableOutput } from '../stages/resourceNames.ts';
import { type Stage, stageNames } from '../stages/stages.ts';
import type { TableName } from '../stages/tables.ts';
import { UsageError } from './usage.ts';

export interface TableOptions {
  readonly stage?: Stage | undefined;
  readonly endpoint?: string | undefined;
}

/**
 * A table of a deployed stage, by the output of its stack, or of an emulator.
 * @throws {UsageError} unless one of the two options is given
 */
export async function openTable(
  name: TableName,
  { stage, endpoint }: TableOptions,
  settings: DynamoDBClientConfig = {},
) {
  if (stage !== undefined && endpoint === undefined) {
    // Its clients of AWS take 30 MB, which an emulator does not need.
    const { readOutput, readStack } = await import('./stageStack.ts');
    const stack = await readStack(stage);
    const tableName = readOutput(stack, toTableOutput(name));
    return { client: stack.open(DynamoDBClient, settings), tableName, stack };
  }
  if (stage === undefined && endpoint !== undefined) {
    return { client: defineEmulatorClient(endpoint, settings), tableName: name, stack: undefined };
  }
  const either = `--stage ${stageNames.join('|')} or an emulator's --endpoint`;
  throw new UsageError(`Give either ${either}. See --help.`);
}

/** Emulators take any credentials. */
export function defineEmulatorClient(
  endpoint: string,
  settings: DynamoDBClientConfig = {},
): DynamoDBClient {
  return new DynamoDBClient({
    ...settings,
    endpoint,
    region: 'local',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
}
