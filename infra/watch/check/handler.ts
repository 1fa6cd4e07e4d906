import { DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { checkService } from './checkService.ts';
import { findFirstSunset, toDaysLine } from './daysLeft.ts';

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
  const key = await findFirstKeyEnd(now);
  const line = toDaysLine(
    NAMESPACE,
    { certificate: certificateEnd, key, sunset: findFirstSunset() },
    now,
  );
  // The whole line and nothing else, which console.info would not write.
  process.stdout.write(`${line}\n`);
}

/** When the first of the keys ends that nobody has ended or replaced; nothing, when none of them ever does. */
async function findFirstKeyEnd(now: number): Promise<Date | undefined> {
  const ends: number[] = [];
  const pages = paginateScan(
    { client: tables },
    {
      TableName: API_KEYS_TABLE,
      FilterExpression:
        'attribute_exists(expiresAt) AND attribute_not_exists(revokedAt) AND attribute_not_exists(successorId)',
      ProjectionExpression: 'expiresAt',
    },
  );
  for await (const { Items = [] } of pages) {
    ends.push(...Items.map(({ expiresAt }) => Date.parse(expiresAt?.S ?? '')));
  }
  const ahead = ends.filter((end) => end > now);
  return ahead.length === 0 ? undefined : new Date(Math.min(...ahead));
}
