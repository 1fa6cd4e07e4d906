import { setTimeout } from 'node:timers/promises';
import {
  CodeDeployClient,
  GetDeploymentTargetCommand,
  ListDeploymentTargetsCommand,
  PutLifecycleEventHookExecutionStatusCommand,
} from '@aws-sdk/client-codedeploy';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  GetFunctionConcurrencyCommand,
  InvokeCommand,
  InvokeWithResponseStreamCommand,
  type InvokeWithResponseStreamCommandInput,
  LambdaClient,
} from '@aws-sdk/client-lambda';
import { operationIds, operations } from '../../../shared/contract/operations.ts';
import { randomHookKeyId } from '../../../shared/keys/apiKey.ts';
import { hideSecrets } from '../../../shared/keys/hideSecrets.ts';
import { defineKeyRegister } from '../../../shared/keys/keyRegister.ts';
import { readVariable } from '../../../shared/runtime/environment.ts';
import { buildProbes, isRight, type Probe } from '../../gateway/probes.ts';
import { toProxyEvent } from '../../gateway/proxyEvent.ts';
import { describeReason, findIds } from './knownIds.ts';

/**
 * Milliseconds before each further attempt. A cold start may be throttled, and it takes some seconds until a permission
 * that this deployment gives works everywhere.
 */
const PAUSES = [5_000, 20_000];

/** The timeout of all calls of an attempt, in milliseconds: longer than the functions' own, except that of lists. */
const TIMEOUT = 30_000;

const KEY_MINUTES = 10;

// Three attempts in which every call is slow fit into the hook's own timeout.
const bounds = {
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 2_000, requestTimeout: 3_000, throwOnRequestTimeout: true },
};
const codeDeploy = new CodeDeployClient(bounds);
const database = new DynamoDBClient(bounds);
const lambda = new LambdaClient({ maxAttempts: 2, requestHandler: { connectionTimeout: 2_000 } });
const keys = defineKeyRegister(new DynamoDBClient(bounds), readVariable('API_KEYS_TABLE'));

export interface HookEvent {
  readonly DeploymentId: string;
  readonly LifecycleEventHookExecutionId: string;
}

/**
 * Calls the new version of a function before CodeDeploy sends it requests, and reports whether it responds as it must.
 * It reports after every error, since CodeDeploy waits an hour for a report.
 * https://docs.aws.amazon.com/codedeploy/latest/userguide/reference-appspec-file-structure-hooks.html
 */
export async function handler(event: HookEvent): Promise<void> {
  const { DeploymentId: deploymentId, LifecycleEventHookExecutionId } = event;
  const status = (await passesCheck(deploymentId)) ? 'Succeeded' : 'Failed';
  await codeDeploy.send(
    new PutLifecycleEventHookExecutionStatusCommand({
      deploymentId,
      status,
      lifecycleEventHookExecutionId: LifecycleEventHookExecutionId,
    }),
  );
}

/** Logs the outcome in one line. A failure has the level ERROR, by which `npx petstore status` finds it. */
async function passesCheck(deploymentId: string): Promise<boolean> {
  for (const pause of [...PAUSES, undefined]) {
    try {
      console.info(await checkVersion(deploymentId));
      return true;
    } catch (error) {
      const line = hideSecrets((error as Error).message).replace(/\s+/g, ' ');
      if (pause === undefined) console.error(line);
      else {
        console.warn(line);
        await setTimeout(pause);
      }
    }
  }
  return false;
}

/**
 * @returns a line on why requests may go to the version
 * @throws {Error} with a line on why not
 */
async function checkVersion(deploymentId: string): Promise<string> {
  let subject = `The deployment ${deploymentId}`;
  try {
    const target = await findTarget(deploymentId);
    const { operationId, version } = target;
    subject = `${operationId}, version ${version},`;
    if (Number(version) < target.currentVersion) {
      return `${subject} has served before: it was not called.`;
    }
    if (await isTurnedOff(target)) return `${subject} is turned off: it was not called.`;
    const { ids, problems } = await findIds(database);
    if (problems.length > 0) throw new Error(problems.join(' '));
    const operation = operations[operationId];
    const probes = buildProbes(operation, operation.permission, ids);
    await callWithKey(target, probes);
    return `${subject} gave the right response to each of ${probes.length} requests.`;
  } catch (error) {
    throw new Error(`${subject} was stopped before its first client: ${describeReason(error)}`);
  }
}

type Target = Awaited<ReturnType<typeof findTarget>>;

/** The version to check, and the one that serves requests now; NaN if that is unknown. */
async function findTarget(deploymentId: string) {
  const { targetIds: [targetId] = [] } = await codeDeploy.send(
    new ListDeploymentTargetsCommand({ deploymentId }),
  );
  const { deploymentTarget } = await codeDeploy.send(
    new GetDeploymentTargetCommand({ deploymentId, targetId }),
  );
  const { lambdaFunctionInfo: found = {} } = deploymentTarget?.lambdaTarget ?? {};
  const { currentVersion, targetVersion: version = '' } = found;
  // It could be an ARN, or have the alias behind it.
  const [functionName = ''] = found.functionName?.match(/petstore-[\w-]+/) ?? [];
  const operationId = operationIds.find((id) => functionName.endsWith(`-${id}`));
  if (operationId && version) {
    return { operationId, functionName, currentVersion: Number(currentVersion), version };
  }
  throw new Error(`CodeDeploy names no version of an operation: ${JSON.stringify(found)}`);
}

/** Whether Lambda refuses every call, by the settings or because somebody stopped the operation. */
async function isTurnedOff({ functionName: FunctionName }: Target): Promise<boolean> {
  const found = await lambda.send(new GetFunctionConcurrencyCommand({ FunctionName }));
  return found.ReservedConcurrentExecutions === 0;
}

/** Makes a key for these calls alone. Each attempt has its own: a version caches keys that it does not know. */
async function callWithKey(target: Target, probes: readonly Probe[]): Promise<void> {
  const isRefused = probes.some(({ expected }) => expected === 'forbidden');
  const permission = isRefused ? 'read' : operations[target.operationId].permission;
  const expiresAt = new Date(Date.now() + KEY_MINUTES * 60_000);
  const { apiKey, record } = await keys
    .create({ keyId: randomHookKeyId(), name: 'deployment-hook', permission, expiresAt })
    .catch((error) => {
      throw new Error(`No key could be made for the calls: ${describeReason(error)}`);
    });
  const deadline = AbortSignal.timeout(TIMEOUT);
  try {
    // One after the other, since a new account has few concurrent calls.
    for (const probe of probes) await call(target, probe, apiKey, deadline);
  } finally {
    // If it stays, it expires.
    await keys.remove(record.keyId).catch(() => {});
  }
}

/** @throws {Error} if there is no response in time, or a wrong one */
async function call(
  target: Target,
  probe: Probe,
  apiKey: string,
  deadline: AbortSignal,
): Promise<void> {
  const { operation, method, path } = probe;
  const requestId = crypto.randomUUID();
  const input = {
    FunctionName: target.functionName,
    Qualifier: target.version,
    Payload: JSON.stringify(toEvent(probe, apiKey, requestId)),
  };
  // The SDK does not end a response that stops in the middle.
  const late = new Promise<never>((_, reject) => {
    const message = `no response within ${TIMEOUT / 1_000} seconds`;
    deadline.addEventListener('abort', () => reject(new Error(message)));
  });
  const { status, body } = await Promise.race([
    operation.streamed ? readStream(probe, input, deadline) : readWhole(input, deadline),
    late,
  ]).catch((error) => {
    throw new Error(`${method} ${path} failed (request id ${requestId}): ${describeReason(error)}`);
  });
  if (isRight(probe, status, body)) return;
  throw new Error(
    `${method} ${path} responded with ${status} (request id ${requestId}): ${body.slice(0, 200)}`,
  );
}

interface Response {
  readonly status: number | undefined;
  readonly body: string;
}

async function readWhole(
  input: InvokeWithResponseStreamCommandInput,
  abortSignal: AbortSignal,
): Promise<Response> {
  const { FunctionError, Payload } = await lambda.send(new InvokeCommand(input), { abortSignal });
  const result = JSON.parse(Payload?.transformToString() ?? '{}');
  if (FunctionError) throw new Error(`${result.errorType}: ${result.errorMessage}`);
  return { status: result?.statusCode, body: result?.body ?? '' };
}

/** Between the status with the headers, and the body. */
const separator = '\0'.repeat(8);

/**
 * Reads a list up to its first item, however long the list is.
 * https://docs.aws.amazon.com/lambda/latest/dg/response-streaming-tutorial.html
 */
async function readStream(
  probe: Probe,
  input: InvokeWithResponseStreamCommandInput,
  abortSignal: AbortSignal,
): Promise<Response> {
  const command = new InvokeWithResponseStreamCommand(input);
  const { EventStream = [] } = await lambda.send(command, { abortSignal });
  const decoder = new TextDecoder();
  let text = '';
  let response: Response = { status: undefined, body: text };
  for await (const { PayloadChunk, InvokeComplete } of EventStream) {
    const { ErrorCode, ErrorDetails } = InvokeComplete ?? {};
    if (ErrorCode) throw new Error(`${ErrorCode}: ${ErrorDetails}`);
    text += decoder.decode(PayloadChunk?.Payload, { stream: true });
    const [prelude = '', body] = text.split(separator, 2);
    if (body === undefined) continue;
    response = { status: JSON.parse(prelude).statusCode, body };
    const first = `${body.slice(0, body.indexOf('}') + 1)}]`;
    if (isRight(probe, response.status, first)) return { ...response, body: first };
  }
  return response;
}

function toEvent(probe: Probe, apiKey: string, requestId: string): object {
  const { operation, method, path, headers, body = null } = probe;
  const { pathname, searchParams: query } = new URL(path, 'https://x');
  const headerLines = Object.entries({ ...headers, Authorization: `Bearer ${apiKey}` });
  const request = { requestId, method, path: pathname, query, headerLines, sourceIp: '' };
  return toProxyEvent(request, operation.path, body);
}
