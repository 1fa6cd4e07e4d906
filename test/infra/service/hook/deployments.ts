import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { EventStreamCodec } from '@smithy/core/event-streams';
import { toLambdaContext } from '../../../../infra/local/lambdaRuntime.ts';
import type { HookEvent } from '../../../../infra/service/hook/handler.ts';
import type { OperationId } from '../../../../shared/contract/operations.ts';
import { defineFreshFunctions } from '../../../conformance/localTarget.ts';
import { type Responses, startAws, type WriteResponse } from '../../ops/aws.ts';

/** Loads a version's code. An error is one of the version's start. */
export type Load = () => Promise<Handler>;
export type Handler = (event: unknown, ...rest: unknown[]) => Promise<unknown>;

interface Deployment {
  readonly id: OperationId;
  readonly target: number;
  status?: string;
}

/** The version that serves requests while another is proven. */
export const LIVE = 2;

/** Plays CodeDeploy, which calls the hook for each new version, and Lambda with the functions. */
export async function startDeployments() {
  const versions = new Map<string, Load>();
  const deployments = new Map<string, Deployment>();
  const engine = {
    /** The versions that were called. */
    called: [] as string[],
    /** The operations that may not run. */
    turnedOff: new Set<OperationId>(),
    /** Any other version has the code of version 1. */
    publish: (id: OperationId, version: number, load: Load) =>
      versions.set(`${id}:${version}`, load),
    /** @returns whether the hook lets every version pass */
    async deploy(hook: (event: HookEvent) => Promise<void>, targets: [OperationId, number][]) {
      engine.called.length = 0;
      const prove = async ([id, target]: [OperationId, number]) => {
        const DeploymentId = `d-${deployments.size + 1}`;
        const deployment: Deployment = { id, target };
        deployments.set(DeploymentId, deployment);
        await hook({ DeploymentId, LifecycleEventHookExecutionId: `e-${DeploymentId}` });
        return deployment.status === 'Succeeded';
      };
      return !(await Promise.all(targets.map(prove))).includes(false);
    },
  };

  /** What the hook calls; an event is among the input of its call. */
  const responses: Record<string, (input: Input) => unknown> = {
    ListDeploymentTargets: ({ deploymentId }) => ({ targetIds: [`${deploymentId}:live`] }),
    GetDeploymentTarget({ deploymentId }) {
      const { id, target } = deployments.get(deploymentId) as Deployment;
      const lambdaFunctionInfo = {
        ...{ functionName: `petstore-production-${id}`, functionAlias: 'live' },
        ...{ currentVersion: String(LIVE), targetVersion: String(target) },
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

const context = (id: OperationId) => toLambdaContext(id, 'request-1', 28_000);

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
  const end = (details: object) => {
    write('InvokeComplete', Buffer.from(JSON.stringify(details)));
    response.end();
  };
  try {
    await (await load())(event, stream, context(id));
    end({});
  } catch (error) {
    const { name, message } = error as Error;
    end({ ErrorCode: name, ErrorDetails: message });
  }
};

/** The global of Lambda's runtime: the status and headers come before the body, and eight zeros between. */
export const awslambda = {
  streamifyResponse: (handler: unknown) => handler,
  HttpResponseStream: {
    from(stream: Writable, prelude: object): Writable {
      stream.write(`${JSON.stringify(prelude)}${'\0'.repeat(8)}`);
      return stream;
    },
  },
};

let loading: Promise<unknown> = Promise.resolve();

/** Loads a function in an environment of its own; it reads that only until it has warmed up. */
export function defineVersion(id: OperationId, variables: Record<string, string>): Load {
  const loadFresh = defineFreshFunctions();
  let loaded: Promise<Handler> | undefined;
  async function load(): Promise<Handler> {
    const before = Object.keys(variables).map((name) => [name, process.env[name]] as const);
    Object.assign(process.env, variables);
    try {
      const { handler, warmUp } = (await loadFresh(id)) as Record<'handler' | 'warmUp', Handler>;
      await warmUp(undefined);
      return handler;
    } finally {
      Object.assign(process.env, Object.fromEntries(before));
    }
  }
  return () => {
    // One after the other, since the environment is the process's.
    if (!loaded) loading = loaded = loading.then(load, load);
    return loaded;
  };
}
