import { type IncomingMessage, request as requestPlain } from 'node:http';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import { DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { GetParametersCommand, SSMClient } from '@aws-sdk/client-ssm';
import { findFirstSunset, toDaysLine } from './daysLeft.ts';

/** How long a response may take, in milliseconds. */
const TIMEOUT = 10_000;

const {
  ADDRESS_PARAMETER = '',
  KEY_PARAMETER = '',
  API_KEYS_TABLE = '',
  NAMESPACE = '',
} = process.env;
const parameters = new SSMClient({});
const tables = new DynamoDBClient({});

/** Checks a stage from outside, as its schedule has it. What it throws, an alarm sees. */
export async function handler(): Promise<void> {
  const { Parameters = [], InvalidParameters = [] } = await parameters.send(
    new GetParametersCommand({ Names: [ADDRESS_PARAMETER, KEY_PARAMETER], WithDecryption: true }),
  );
  if (InvalidParameters.length > 0) {
    throw new Error(`There is no parameter ${InvalidParameters.join(', ')}.`);
  }
  const find = (name: string) => Parameters.find(({ Name }) => Name === name)?.Value ?? '';
  const certificate = await checkService(find(ADDRESS_PARAMETER), find(KEY_PARAMETER));
  const now = Date.now();
  const key = await findFirstKeyEnd(now);
  const line = toDaysLine(NAMESPACE, { certificate, key, sunset: findFirstSunset() }, now);
  // The whole line and nothing else, which console.info would not write.
  process.stdout.write(`${line}\n`);
}

/**
 * Lists one entry as a client does: that proves the name, the certificate, the gateway, a function, the key
 * and its table, and the inventory's.
 * @param ca a certificate to trust beside those that Node.js does
 * @returns when its certificate ends; nothing, where it has none
 * @throws {Error} that says what is wrong; never with the key
 */
export async function checkService(
  baseAddress: string,
  apiKey: string,
  ca?: string,
): Promise<Date | undefined> {
  const url = new URL(`${baseAddress}/inventory?limit=1`);
  const signal = AbortSignal.timeout(TIMEOUT);
  const headers = { Authorization: `Bearer ${apiKey}` };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const send = url.protocol === 'https:' ? request : requestPlain;
    send(url, { headers, signal, ...(ca !== undefined && { ca }), agent: false }, resolve)
      .on('error', (error) => reject(new Error(`${baseAddress} gave no answer: ${error.message}`)))
      .end();
  });
  const { valid_to: end } = (response.socket as TLSSocket).getPeerCertificate?.() ?? {};
  const body = await text(response);
  const id = response.headers['x-request-id'];
  if (response.statusCode !== 200 || !isList(body)) {
    throw new Error(
      `GET ${url.pathname} answered ${response.statusCode} (request id ${id}): ${body.slice(0, 200)}`,
    );
  }
  return end ? new Date(end) : undefined;
}

function isList(body: string): boolean {
  try {
    return Array.isArray(JSON.parse(body));
  } catch {
    return false;
  }
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
