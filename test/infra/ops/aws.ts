import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { listen } from '../../../infra/local/engine/loopback.ts';
import type { Release } from '../../../infra/stages/commit.ts';

type Input = Record<string, unknown>;

export interface Call {
  readonly operation: string;
  readonly input: Input;
  /** The region of its signature. */
  readonly region: string;
  readonly service: string;
}

/** Writes a response that is not JSON. */
export type WriteResponse = (response: ServerResponse) => unknown;

/** The responses of each operation, or promises of them. A function may throw an AwsError. They may change. */
export type Responses = Record<string, (input: Input) => unknown>;

/** An error response of AWS. The SDK retries a status from 500 up, and a name of throttling. */
export class AwsError extends Error {
  readonly status: number;

  constructor(name: string, message: string, status = 400) {
    super(message);
    this.name = name;
    this.status = status;
  }
}

/** A fake of every AWS service that the commands call. Records the calls. */
export async function startAws(responses: Responses) {
  const calls: Call[] = [];
  const served = await serve(async (request, response) => {
    const { operation, input, isXml } = await readCall(request);
    const [, region = '', service = ''] =
      /Credential=[^/]+\/\d+\/([^/]+)\/(\w+)/.exec(request.headers.authorization ?? '') ?? [];
    calls.push({ operation, input, region, service });
    const write = (status: number, type: string, body: unknown) => {
      const written = isXml ? toXml(status, operation, body) : JSON.stringify(body);
      response.writeHead(status, { 'x-amzn-errortype': type }).end(written);
    };
    try {
      if (operation === aws.denied) throw new AwsError('AccessDeniedException', 'not allowed');
      const respond = responses[operation];
      if (!respond) throw new AwsError('UnknownOperationException', `no ${operation} in this test`);
      const body = await respond(input);
      if (typeof body === 'function') await (body as WriteResponse)(response);
      else write(200, '', body);
    } catch (error) {
      const { name, message, status = 500 } = error as AwsError;
      write(status, name, { Error: { Code: name, Message: message }, message });
    }
  });
  const aws = {
    calls,
    denied: '',
    inputsOf: (operation: string) =>
      calls.filter((call) => call.operation === operation).map(({ input }) => input),
    /** The environment in which a command calls this. */
    variables: {
      AWS_REGION: 'eu-west-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      AWS_ENDPOINT_URL: served.address,
    },
    close: () => served[Symbol.dispose](),
  };
  return aws;
}

/** A server on a port of its own, until it is disposed of. */
export async function serve(listener?: RequestListener) {
  const server = createServer(listener);
  return {
    server,
    address: `http://127.0.0.1:${await listen(server, 0, '')}`,
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** As `startAws`, until the test ends. */
export async function useAws(responses: Responses) {
  const aws = await startAws(responses);
  onTestFinished(aws.close);
  return aws;
}

/** CloudFormation's response about its only stack. @param place its region and account */
export function describeStack(
  stackName: string,
  outputs: Readonly<Record<string, string>> = {},
  toStatus = () => 'UPDATE_COMPLETE',
  place = 'eu-west-1:123456789012',
): Responses {
  return {
    DescribeStacks({ StackName }) {
      if (StackName !== stackName) {
        throw new AwsError('ValidationError', `Stack with id ${StackName} does not exist`);
      }
      const toOutput = ([OutputKey, OutputValue]: string[]) => ({ OutputKey, OutputValue });
      const Outputs = Object.entries(outputs).map(toOutput);
      const StackId = `arn:aws:cloudformation:${place}:stack/${StackName}/1f-2e`;
      // Of each stack of the CDK.
      const Parameters = [{ ParameterKey: 'BootstrapVersion', ParameterValue: '30' }];
      return { Stacks: [{ StackName, StackId, StackStatus: toStatus(), Parameters, Outputs }] };
    },
  };
}

/** The history of the parameter of releases, oldest first. Without any, as of release 1.2.0, there is none. */
export function describeReleases(toReleases: () => readonly Release[]): Responses {
  return {
    GetParameterHistory() {
      const Parameters = toReleases().map((release, index) => ({
        ...{ Version: index + 1, Value: JSON.stringify(release) },
      }));
      if (Parameters.length > 0) return { Parameters };
      throw new AwsError('ParameterNotFound', 'no such parameter');
    },
  };
}

/** Reads forms of CloudFormation, paths of Lambda, and the header of the others that names the operation. */
async function readCall(request: IncomingMessage) {
  const body = await text(request);
  const target = request.headers['x-amz-target'];
  if (target) return { operation: String(target).split('.')[1] ?? '', input: JSON.parse(body) };
  if (request.headers['content-type']?.includes('form')) {
    const { Action = '', ...input } = Object.fromEntries(new URLSearchParams(body));
    return { operation: Action, input, isXml: true };
  }
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://x');
  if (!pathname.includes('/functions/')) {
    const [, Bucket = '', ...key] = pathname.split('/');
    return { operation: 'PutObject', input: { Bucket, Key: key.join('/'), Body: body } };
  }
  const [, FunctionName, kind] = /\/functions\/([^/]+)\/([\w-]+)/.exec(pathname) ?? [];
  const put = request.method === 'PUT' ? 'UpdateAlias' : 'GetAlias';
  const sent = body && JSON.parse(body);
  const input = { FunctionName, ...Object.fromEntries(searchParams), ...sent };
  const operations: Record<string, string> = {
    versions: 'ListVersionsByFunction',
    concurrency: 'GetFunctionConcurrency',
    invocations: 'Invoke',
    'response-streaming-invocations': 'InvokeWithResponseStream',
  };
  return { operation: operations[kind ?? ''] ?? put, input: input as Input };
}

function toXml(status: number, operation: string, body: unknown): string {
  const content = toElements(body);
  return status === 200
    ? `<${operation}Response><${operation}Result>${content}</${operation}Result></${operation}Response>`
    : `<ErrorResponse>${content}</ErrorResponse>`;
}

function toElements(value: unknown): string {
  if (Array.isArray(value))
    return value.map((one) => `<member>${toElements(one)}</member>`).join('');
  if (value instanceof Map) {
    const entries = Array.from(value, ([key, one]) => ({ entry: { key, value: one } }));
    return entries.map(toElements).join('');
  }
  if (typeof value !== 'object' || value === null) {
    return String(value).replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  }
  return Object.entries(value)
    .map(([name, content]) => `<${name}>${toElements(content)}</${name}>`)
    .join('');
}
