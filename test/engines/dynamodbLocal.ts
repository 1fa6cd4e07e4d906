import { join } from 'node:path';
import type { NamedEngine } from '../support/engines.ts';
import { startEngineProcess } from './engineProcess.ts';

/** The variable by which `npm run test:dynamodb-local` tells the tests where DynamoDB Local lies. */
export const FOLDER_VARIABLE = 'PETSTORE_DYNAMODB_LOCAL';

const folder = process.env[FOLDER_VARIABLE];

/**
 * AWS's own DynamoDB Local, in a Java process with its data in memory, where the tests are told to run on it. It
 * listens on every address of the machine, and has no option for one.
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
    // Of a short life: a compiler that starts soon, and a heap without threads of its own.
    ...['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'],
    `-Djava.library.path=${join(folder, 'DynamoDBLocal_lib')}`,
    ...['-jar', join(folder, 'DynamoDBLocal.jar'), '-port', String(port), '-inMemory'],
    // One set of tables, as the other engines have, where it would keep one for each key id and region.
    '-sharedDb',
    // Without it, each start is reported to AWS:
    // https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/DynamoDBLocalTelemetry.html
    '-disableTelemetry',
  ];
}
