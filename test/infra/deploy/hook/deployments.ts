import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { EventStreamCodec } from '@smithy/core/event-streams';
import type { HookEvent } from '../../../../infra/deploy/hook/handler.ts';
import { buildLambdaContext } from '../../../../infra/local/lambdaRuntime.ts';
import { type OperationId, operationIds } from '../../../../shared/contract/operations.ts';
import { writeBundle } from '../../../support/bundles.ts';
import { type Responses, startAws, type WriteResponse } from '../../ops/aws.ts';

/** Loads a version's code. An error is one of the version's start. */
export type Load = () => Promise<Handler>;
type Handler = (event: unknown, ...rest: unknown[]) => Promise<unknown>;

interface Deployment {
  readonly id: OperationId;
  readonly current: number;
  readonly target: number;
  status?: string;
}

/**
 * Plays CodeDeploy, and Lambda with the functions' bundles, in a deployment of each changed alias.
 * `serviceStack.test.ts` tests that each alias has the hook.
 */
export async function startDeployments() {
  const live = new Map(operationIds.map((id) => [id, 1]));
  const versions = new Map<string, Load>();
  const deployments = new Map<string, Deployment>();
  const engine = {
    live,
    /** The versions that were called directly. */
    called: [] as string[],
    /** The operations that may not run. */
    turnedOff: new Set<OperationId>(),
    /** Any other version has the code of version 1. */
    publish: (id: OperationId, version: number, load: Load) =>
      versions.set(`${id}:${version}`, load),
    /** @returns whether every alias was moved */
    async deploy(hook: (event: HookEvent) => Promise<void>, targets: [OperationId, number][]) {
      engine.called.length = 0;
      const move = async ([id, target]: [OperationId, number]) => {
        const deployment: Deployment = { id, current: live.get(id) ?? 0, target };
        const DeploymentId = `d-${deployments.size + 1}`;
        deployments.set(DeploymentId, deployment);
        await hook({ DeploymentId, LifecycleEventHookExecutionId: `e-${DeploymentId}` });
        if (deployment.status === 'Succeeded') live.set(id, target);
        return deployment.status === 'Succeeded';
      };
      const moved = await Promise.all(targets.map(move));
      return !moved.includes(false);
    },
  };

  /** What the hook calls; an event is among the input of its call. */
  const responses: Record<string, (input: Input) => unknown> = {
    ListDeploymentTargets: ({ deploymentId }) => ({ targetIds: [`${deploymentId}:live`] }),
    GetDeploymentTarget({ deploymentId }) {
      const { id, current, target } = deployments.get(deploymentId) as Deployment;
      const lambdaFunctionInfo = {
        functionName: `petstore-production-${id}`,
        functionAlias: 'live',
        currentVersion: String(current),
        targetVersion: String(target),
      };
      return { deploymentTarget: { lambdaTarget: { deploymentId, lambdaFunctionInfo } } };
    },
    PutLifecycleEventHookExecutionStatus({ deploymentId, status }) {
      Object.assign(deployments.get(deploymentId) as Deployment, { status });
      return {};
    },
    GetFunctionConcurrency: (input) =>
      engine.turnedOff.has(toId(input)) ? { ReservedConcurrentExecutions: 0 } : {},
    Invoke: (input) => call(input, invoke),
    InvokeWithResponseStream: (input) => call(input, invokeStreamed),
  };

  function call(input: Input, respond: Invoke): WriteResponse {
    const id = toId(input);
    const version = `${id}:${input.Qualifier}`;
    engine.called.push(version);
    const load = (versions.get(version) ?? versions.get(`${id}:1`)) as Load;
    return (response) => respond(id, load, input, response);
  }

  const aws = await startAws(responses as Responses);
  const { AWS_ENDPOINT_URL: endpoint } = aws.variables;
  const variables = { AWS_ENDPOINT_URL_CODEDEPLOY: endpoint, AWS_ENDPOINT_URL_LAMBDA: endpoint };
  return Object.assign(aws, engine, { variables });
}

/** The input of a call of the hook. */
type Input = Record<'deploymentId' | 'status' | 'FunctionName' | 'Qualifier', string>;

const toId = ({ FunctionName }: Input) =>
  FunctionName.replace('petstore-production-', '') as OperationId;

type Invoke = (id: OperationId, load: Load, event: unknown, response: ServerResponse) => unknown;

const context = (id: OperationId) => buildLambdaContext(id, 'request-1', 28_000);

const invoke: Invoke = async (id, load, event, response) => {
  try {
    const result = await (await load())(event, context(id));
    response.end(JSON.stringify(result));
  } catch (error) {
    response.setHeader('x-amz-function-error', 'Unhandled');
    const { name, message } = error as Error;
    response.end(JSON.stringify({ errorType: name, errorMessage: message }));
  }
};

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes).toString(),
  (string) => Buffer.from(string),
);

const invokeStreamed: Invoke = async (id, load, event, response) => {
  const write = (type: string, body: Uint8Array) => {
    const value = (text: string) => ({ type: 'string' as const, value: text });
    const headers = { ':message-type': value('event'), ':event-type': value(type) };
    return response.write(codec.encode({ headers, body }));
  };
  const stream = new Writable({
    write(chunk, _, done) {
      if (write('PayloadChunk', chunk)) return done();
      response.once('drain', done).once('close', () => stream.destroy());
    },
  });
  // As Lambda does: the status and headers come before the body, and eight zeros between.
  const writeHead = (statusCode: number, headers: object) =>
    stream.write(`${JSON.stringify({ statusCode, headers })}${'\0'.repeat(8)}`);
  const end = (details: object) => {
    write('InvokeComplete', Buffer.from(JSON.stringify(details)));
    response.end();
  };
  try {
    await (await load())(event, Object.assign(stream, { writeHead }), context(id));
    end({});
  } catch (error) {
    const { name, message } = error as Error;
    end({ ErrorCode: name, ErrorDetails: message });
  }
};

let loading: Promise<unknown> = Promise.resolve();
let loads = 0;
const written = new Map<OperationId, Promise<string>>();
const { cache } = createRequire(import.meta.url);

/** Loads a function's bundle in an environment of its own; it reads that only while it loads. */
export function defineBundle(
  folder: string,
  id: OperationId,
  variables: Record<string, string>,
  entry?: string,
): Load {
  let loaded: Promise<Handler> | undefined;
  async function load(): Promise<Handler> {
    loads += 1;
    const writing = written.get(id) ?? writeBundle(id, join(folder, id));
    written.set(id, writing);
    const index = entry === undefined ? await writing : join(folder, `${id}-${loads}.mjs`);
    if (entry !== undefined) writeFileSync(index, entry);
    // The code behind Lambda's entry file runs anew. At the same path, Node.js compiles it only once.
    delete cache[join(index, '../function.cjs')];
    const before = Object.keys(variables).map((name) => [name, process.env[name]] as const);
    Object.assign(process.env, variables);
    try {
      return (await import(/* @vite-ignore */ `${index}?load=${loads}`)).handler;
    } finally {
      Object.assign(process.env, Object.fromEntries(before));
    }
  }
  return () => {
    if (!loaded) {
      // One after the other, since the environment is the process's.
      loaded = loading.then(load, load);
      loading = loaded;
    }
    return loaded;
  };
}
