import { AsyncLocalStorage } from 'node:async_hooks';
import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import { format } from 'node:util';
import type { Context } from 'aws-lambda';
import { log } from '../cli/output.ts';
import { type TableDefinition, tables } from '../stages/tables.ts';
import type { GatewayResponse } from './gateway/messages.ts';

// What Lambda's Node.js runtime provides: variables, globals, a console, a context and a response stream. The benchmark
// measures from here on, so this loads no contract and no schemas.

/** SDK settings that would direct the functions to another endpoint or to other credentials. */
const misleading = [
  'AWS_IGNORE_CONFIGURED_ENDPOINT_URLS',
  'AWS_PROFILE',
  'AWS_SESSION_TOKEN',
  'AWS_USE_DUALSTACK_ENDPOINT',
  'AWS_USE_FIPS_ENDPOINT',
];

/** Sets the variables that Lambda sets for a function. Call it before the functions are imported. */
export function setFunctionEnvironment(endpoint: string, documentationAddress: string): void {
  for (const name of misleading) delete process.env[name];
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    AWS_REGION: 'local',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    ALLOWED_ORIGINS: '*',
    DOCUMENTATION_ADDRESS: documentationAddress,
  });
  for (const [name, { variable }] of Object.entries<TableDefinition>(tables)) {
    process.env[variable] = name;
  }
}

/**
 * Defines the global of Lambda's Node.js runtime, with the parts that streaming functions use:
 * https://docs.aws.amazon.com/lambda/latest/dg/config-rs-write-functions.html
 * Functions look for it when they are imported. Here, their response stream is the gateway's response itself.
 */
export function defineAwslambda(): void {
  Object.assign(globalThis, {
    awslambda: {
      streamifyResponse: (handler: unknown) => handler,
      HttpResponseStream: {
        from(
          stream: Writable | ServerResponse,
          { statusCode = 200, headers }: Partial<GatewayResponse>,
        ) {
          if ('writeHead' in stream) stream.writeHead(statusCode, headers);
          return stream;
        },
      },
    },
  });
}

/** Adds the invocation's id to what it logs. */
export const requestIds = new AsyncLocalStorage<string>();

/**
 * Makes `console` write in Lambda's JSON log format, to standard error:
 * https://docs.aws.amazon.com/lambda/latest/dg/nodejs-logging.html
 */
export function useLambdaConsole(): void {
  const levels = { info: 'INFO', log: 'INFO', warn: 'WARN', error: 'ERROR' } as const;
  const writeBigInt = (_: string, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value;
  for (const [method, level] of Object.entries(levels)) {
    console[method as keyof typeof levels] = (...values: unknown[]) => {
      const [first, ...rest] = values;
      // One plain object stays an object; anything else becomes text.
      const isPlain = typeof first === 'object' && !(first instanceof Error) && rest.length === 0;
      const message = isPlain ? first : format(...values);
      const timestamp = new Date().toISOString();
      const line = { timestamp, level, requestId: requestIds.getStore(), message };
      log(JSON.stringify(line, writeBigInt));
    };
  }
}

export function buildLambdaContext(
  functionName: string,
  awsRequestId: string,
  timeoutMilliseconds: number,
): Context {
  const deadline = Date.now() + timeoutMilliseconds;
  return {
    awsRequestId,
    functionName,
    functionVersion: '$LATEST',
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
  } as Context;
}
