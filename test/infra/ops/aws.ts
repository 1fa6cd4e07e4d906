import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { type HttpHandlerOptions, HttpResponse } from '@smithy/core/protocols';
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

/** A request, with the names of its headers in lower case. */
interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface Reply {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly text: string;
}
type Outcome = Reply | WriteResponse;

/** What a call returns, by the port of its fake. */
const fakes = new Map<number | undefined, (sent: Sent) => Promise<Outcome>>();
/** Responses that are written to a socket, by the number in a header of their requests. */
const pending = new Map<string, WriteResponse>();
let numbers = 0;
const pendingHeader = 'x-pending-response';

// A call of this process takes its response without a socket, unless it is a stream. Half of the time of a call would
// be Node's HTTP.
type Handler = CloudFormationClient['config']['requestHandler'];
const transport: Handler = Object.getPrototypeOf(new CloudFormationClient().config.requestHandler);
const { handle } = transport;
transport.handle = async function call(this: Handler, request, options: HttpHandlerOptions = {}) {
  const respond = fakes.get(request.port);
  const { body: sent = '' } = request;
  // The SDK's bytes log a warning where they are used as text. `Buffer.from` does.
  const body = sent instanceof Uint8Array ? new TextDecoder().decode(sent) : sent;
  if (!respond || options.abortSignal?.aborted || typeof body !== 'string') {
    return handle.call(this, request, options);
  }
  const url = `${request.path}?${new URLSearchParams(request.query as Record<string, string>)}`;
  const outcome = await respond({ ...request, url, body });
  // As with a socket, others get their turn.
  await setImmediate();
  if (typeof outcome === 'function') {
    numbers += 1;
    pending.set(`${numbers}`, outcome);
    const headers = { ...request.headers, [pendingHeader]: `${numbers}` };
    return handle.call(this, Object.assign(request.clone(), { headers }), options);
  }
  const { status: statusCode, headers, text } = outcome;
  return { response: new HttpResponse({ statusCode, headers, body: Buffer.from(text) }) };
};

/** A fake of every AWS service that the commands call. Records the calls. */
export async function startAws(responses: Responses) {
  const calls: Call[] = [];
  async function call(sent: Sent): Promise<Outcome> {
    const { operation, input, isXml } = readCall(sent);
    const [, region = '', service = ''] =
      /Credential=[^/]+\/\d+\/([^/]+)\/(\w+)/.exec(sent.headers.authorization ?? '') ?? [];
    calls.push({ operation, input, region, service });
    const toReply = (status: number, type: string, body: unknown): Reply => ({
      status,
      headers: { 'x-amzn-errortype': type },
      text: isXml ? toXml(status, operation, body) : JSON.stringify(body),
    });
    try {
      if (operation === aws.denied) throw new AwsError('AccessDeniedException', 'not allowed');
      const respond = responses[operation];
      if (!respond) throw new AwsError('UnknownOperationException', `no ${operation} in this test`);
      const body = await respond(input);
      return typeof body === 'function' ? (body as WriteResponse) : toReply(200, '', body);
    } catch (error) {
      const { name, message, status = 500 } = error as AwsError;
      return toReply(status, name, { Error: { Code: name, Message: message }, message });
    }
  }
  const served = await serve(async (request, response) => {
    const { method = '', url = '' } = request;
    const headers = request.headers as Record<string, string>;
    const number = headers[pendingHeader] ?? '';
    const body = await text(request);
    const outcome = pending.get(number) ?? (await call({ method, url, headers, body }));
    pending.delete(number);
    if (typeof outcome === 'function') await outcome(response);
    else response.writeHead(outcome.status, outcome.headers).end(outcome.text);
  });
  const port = Number(new URL(served.address).port);
  fakes.set(port, call);
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
    close() {
      fakes.delete(port);
      served[Symbol.dispose]();
    },
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

/** The history of the parameter of releases, oldest first. Without any, as during a first deployment, there is none. */
export function describeReleases(toReleases: () => readonly Release[]): Responses {
  return {
    GetParameterHistory() {
      const Parameters = toReleases().map((release, index) => ({
        Version: index + 1,
        Value: JSON.stringify(release),
      }));
      if (Parameters.length > 0) return { Parameters };
      throw new AwsError('ParameterNotFound', 'no such parameter');
    },
  };
}

/** Reads forms of CloudFormation, paths of Lambda, and the header of the others that names the operation. */
function readCall({ method, url, headers, body }: Sent) {
  const target = headers['x-amz-target'];
  if (target) return { operation: target.split('.')[1] ?? '', input: JSON.parse(body) };
  if (headers['content-type']?.includes('form')) {
    const { Action = '', ...input } = Object.fromEntries(new URLSearchParams(body));
    return { operation: Action, input, isXml: true };
  }
  const { pathname, searchParams } = new URL(url, 'http://x');
  if (!pathname.includes('/functions/')) {
    const [, Bucket = '', ...key] = pathname.split('/');
    return { operation: 'PutObject', input: { Bucket, Key: key.join('/'), Body: body } };
  }
  const [, FunctionName, kind] = /\/functions\/([^/]+)\/([\w-]+)/.exec(pathname) ?? [];
  const put = method === 'PUT' ? 'UpdateAlias' : 'GetAlias';
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
