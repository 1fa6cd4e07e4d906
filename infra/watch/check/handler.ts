import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { checkService } from './checkService.ts';
import { toDaysLine } from './daysLeft.ts';
import { findFirstKeyEnd } from './firstKeyEnd.ts';
import { findFirstSunset } from './firstSunset.ts';

const { BASE_ADDRESS = '', KEY_PARAMETER = '', API_KEYS_TABLE = '', NAMESPACE = '' } = process.env;
const parameters = new SSMClient({});
const tables = new DynamoDBClient({});

/** Checks a stage from outside, as its schedule has it. What it throws, an alarm sees. */
export async function handler(): Promise<void> {
  const { Parameter } = await parameters.send(
    new GetParameterCommand({ Name: KEY_PARAMETER, WithDecryption: true }),
  );
  const { certificateEnd } = await checkService(BASE_ADDRESS, Parameter?.Value ?? '');
  const now = Date.now();
  const key = await findFirstKeyEnd(tables, API_KEYS_TABLE, now);
  const line = toDaysLine(
    NAMESPACE,
    { certificate: certificateEnd, key, sunset: findFirstSunset() },
    now,
  );
  // The whole line and nothing else, which console.info would not write.
  process.stdout.write(`${line}\n`);
}
