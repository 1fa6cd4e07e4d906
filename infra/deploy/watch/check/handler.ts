import { type IncomingMessage, request as requestPlain } from 'node:http';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { DescribeTableCommand, DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { GetParametersCommand, SSMClient } from '@aws-sdk/client-ssm';
import type { Operation } from '../../../../shared/contract/operation.ts';
import { operations } from '../../../../shared/contract/operations.ts';
import { readVariable } from '../../../../shared/runtime/environment.ts';
import { buildProbes, isRight, type KnownIds, type Probe } from '../../../gateway/probes.ts';
import { checkAgent } from '../../../stages/resourceNames.ts';
import { findIds } from '../../hook/knownIds.ts';
import { DAYS_AHEAD, formatMetrics } from './checkMetrics.ts';

/** The timeout of a response, and the pause before a retry, in milliseconds. */
const TIMEOUT = 10_000;
const PAUSE = 1_000;

const { KEY_PARAMETER = '', ADDRESS_PARAMETER = '', OPERATIONS = '', NAMESPACE = '' } = process.env;
const parameters = new SSMClient({});
const tables = new DynamoDBClient({});

/** Checks a stage from outside. An error it throws makes an alarm fire. */
export async function handler(): Promise<void> {
  const [baseAddress, apiKey] = await readParameters(ADDRESS_PARAMETER, KEY_PARAMETER);
  const known = await findIds(tables, explainEmpty);
  const turnedOn = OPERATIONS.split(',');
  const asked = Object.values(operations).filter((one) => turnedOn.includes(one.operationId));
  const { certificate, throttled, problems } = await checkService(
    baseAddress,
    apiKey,
    asked,
    known.ids,
  );
  const line = formatMetrics(NAMESPACE, {
    certificateDays: toDaysLeft(certificate),
    keyDays: toDaysLeft(await findFirstKeyEnd()),
    checkThrottled: throttled || undefined,
  });
  // console.info would add a prefix to the line.
  if (line) process.stdout.write(`${line}\n`);
  const all = [...problems, ...known.problems];
  if (all.length > 0) throw new Error(all.join('\n'));
}

function toDaysLeft(end: Date | undefined): number | undefined {
  const days = (Number(end) - Date.now()) / 86_400_000;
  return days <= DAYS_AHEAD ? days : undefined;
}

/** @throws {Error} that names the missing parameter */
async function readParameters(address: string, key: string): Promise<[string, string]> {
  const command = new GetParametersCommand({ Names: [address, key], WithDecryption: true });
  const { Parameters = [] } = await parameters.send(command);
  const read = (name: string) => {
    const { Value } = Parameters.find(({ Name }) => Name === name) ?? {};
    if (Value) return Value;
    throw new Error(`The parameter ${name} is missing. The runbook says how to create it.`);
  };
  return [read(address), read(key)];
}

/** Calls operations as a client does, each by its first probe, with one retry. */
export async function checkService(
  baseAddress: string,
  apiKey: string,
  asked: readonly Operation[] = Object.values(operations),
  knownIds: KnownIds = {},
) {
  const responses = await Promise.all(
    asked.map(async (operation) => {
      const [probe] = buildProbes(operation, 'read', knownIds) as [Probe];
      const response = await sendProbe(probe, baseAddress, apiKey);
      if (!response.problem) return response;
      await setTimeout(PAUSE);
      return sendProbe(probe, baseAddress, apiKey);
    }),
  );
  return {
    /** When the certificate expires; `undefined` without one. */
    certificate: responses.find(({ certificate }) => certificate)?.certificate,
    throttled: responses.filter(({ isThrottled }) => isThrottled).length,
    /** One line for each failed operation, never with the key. */
    problems: responses.flatMap(({ problem, isThrottled }) =>
      problem && !isThrottled ? [problem] : [],
    ),
  };
}

async function sendProbe(probe: Probe, baseAddress: string, apiKey: string) {
  const { operation, method, path, body: sent } = probe;
  const url = new URL(baseAddress + path);
  const headers = {
    ...probe.headers,
    Authorization: `Bearer ${apiKey}`,
    'User-Agent': checkAgent,
  };
  const signal = AbortSignal.timeout(TIMEOUT);
  const options = { method, headers, signal, agent: false };
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const send = url.protocol === 'https:' ? request : requestPlain;
      send(url, options, resolve).on('error', reject).end(sent);
    });
    const { valid_to: end } = (response.socket as TLSSocket).getPeerCertificate?.() ?? {};
    const { statusCode } = response;
    const body = await text(response);
    const id = response.headers['x-request-id'];
    return {
      certificate: end ? new Date(end) : undefined,
      isThrottled: statusCode === 429,
      problem: isRight(probe, statusCode, body)
        ? undefined
        : `${operation.operationId}: ${method} ${url.pathname} responded with ${statusCode} (request id ${id}): ${body.slice(0, 200)}`,
    };
  } catch (error) {
    // If none of several addresses responds, the error has only a code.
    const { message, code } = Object(error);
    const problem = `${operation.operationId}: ${baseAddress} did not respond: ${message || code}`;
    return { certificate: undefined, isThrottled: false, problem };
  }
}

/** The table's own count is up to six hours old. */
async function explainEmpty(TableName: string): Promise<string | undefined> {
  const { Table } = await tables.send(new DescribeTableCommand({ TableName }));
  if (!Table?.ItemCount) return undefined;
  return `The table ${TableName} is empty, and had ${Table.ItemCount} items at most six hours ago.`;
}

/**
 * When the first key expires that nobody has revoked or replaced; `undefined` if none does. Keys made for at most
 * DAYS_AHEAD days do not count, since they are meant to expire.
 */
async function findFirstKeyEnd(): Promise<Date | undefined> {
  const ends: number[] = [];
  const pages = paginateScan(
    { client: tables },
    {
      TableName: readVariable('API_KEYS_TABLE'),
      FilterExpression:
        'attribute_exists(expiresAt) AND attribute_not_exists(revokedAt) AND attribute_not_exists(successorId)',
      ProjectionExpression: 'createdAt, expiresAt',
    },
  );
  for await (const { Items = [] } of pages) {
    for (const { createdAt, expiresAt } of Items) {
      const end = Date.parse(expiresAt?.S ?? '');
      const days = (end - Date.parse(createdAt?.S ?? '')) / 86_400_000;
      if (end > Date.now() && !(days <= DAYS_AHEAD)) ends.push(end);
    }
  }
  return ends.length === 0 ? undefined : new Date(Math.min(...ends));
}
