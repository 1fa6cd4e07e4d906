import { join } from 'node:path';
import type { NamedEngine } from '../support/engines.ts';
import { startEngineProcess } from './engineProcess.ts';

/** The variable in which `npm run test:dynamodb-local` passes the folder of DynamoDB Local to the tests. */
export const FOLDER_VARIABLE = 'PETSTORE_DYNAMODB_LOCAL';

const folder = process.env[FOLDER_VARIABLE];

/**
 * AWS's own DynamoDB Local, in a Java process with its data in memory, if the variable is set. It listens on every
 * address of the machine, and has no option to choose one.
 */
export const dynamodbLocal: NamedEngine | undefined =
  folder === undefined
    ? undefined
    : {
        name: 'DynamoDB Local',
        start: () => startEngineProcess('java', (port) => toArguments(folder, port)),
      };

function toArguments(folder: string, port: number): string[] {
  return [
    // For a short life: a compiler that starts early, and a garbage collector without threads.
    ...['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'],
    `-Djava.library.path=${join(folder, 'DynamoDBLocal_lib')}`,
    ...['-jar', join(folder, 'DynamoDBLocal.jar'), '-port', String(port), '-inMemory'],
    // One set of tables, as in the other engines. By default it keeps one for each key id and region.
    '-sharedDb',
    // Otherwise it reports each start to AWS:
    // https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/DynamoDBLocalTelemetry.html
    '-disableTelemetry',
  ];
}
