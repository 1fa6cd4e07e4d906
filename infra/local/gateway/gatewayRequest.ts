import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { apiVersion } from '../../../shared/contract/operation.ts';
import { MAX_BODY_BYTES } from '../../gateway/gatewayLimits.ts';
import type { LambdaFunction } from '../lambda/lambdaFunction.ts';

/** A request with what the gateway makes of its first lines. */
export interface GatewayRequest {
  readonly requestId: string;
  readonly method: string;
  /** The address without origin and query. */
  readonly fullPath: string;
  /** Relative to the base address; `undefined` outside the stage. */
  readonly path: string | undefined;
  readonly query: URLSearchParams;
  /** In the client's case and order. */
  readonly headerLines: readonly (readonly [name: string, value: string])[];
  readonly sourceIp: string;
}

export function toGatewayRequest(incoming: IncomingMessage): GatewayRequest {
  const [path = '', query = ''] = splitOnce(toTarget(incoming.url ?? ''), '?');
  const base = `/${apiVersion}`;
  return {
    requestId: randomUUID(),
    method: incoming.method ?? '',
    fullPath: path,
    path: path === base || path.startsWith(`${base}/`) ? path.slice(base.length) : undefined,
    query: new URLSearchParams(query),
    headerLines: toPairs(incoming.rawHeaders),
    sourceIp: incoming.socket.remoteAddress ?? '',
  };
}

/**
 * Reads the body as text, in which bytes that are not UTF-8 become U+FFFD.
 * @returns `null` when there is none, `undefined` as soon as it proves too large
 */
export async function readBody(incoming: IncomingMessage): Promise<string | null | undefined> {
  if (Number(incoming.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return undefined;
  const chunks: Buffer[] = [];
  let size = 0;
  return new Promise((resolve, reject) => {
    incoming.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_BODY_BYTES) {
        chunks.push(chunk);
      } else {
        // The rest is read and dropped: a client that is still sending would miss the answer.
        chunks.length = 0;
        resolve(undefined);
      }
    });
    incoming.on('end', () => resolve(size === 0 ? null : Buffer.concat(chunks).toString('utf8')));
    incoming.on('error', reject);
    incoming.on('close', () => {
      if (!incoming.complete) reject(new Error('The client left before its request was whole.'));
    });
  });
}

/** Where a path leads: its functions by method, and the parameters as the path has them, decoded. */
export interface Route {
  /** As the contract has it, such as `/pets/{petId}`. */
  readonly path: string;
  readonly functions: ReadonlyMap<string, LambdaFunction>;
  readonly pathParameters: Record<string, string>;
}

export type FindRoute = (path: string) => Route | undefined;

/** @returns a search by paths relative to the base address; as on API Gateway, a slash at the end counts */
export function defineRoutes(functions: readonly LambdaFunction[]): FindRoute {
  const byPath = Map.groupBy(functions, ({ operation }) => operation.path);
  const routes = [...byPath].map(([path, group]) => ({
    path,
    template: path.split('/'),
    functions: new Map(group.map((each) => [each.operation.method, each])),
  }));
  return function findRoute(searched) {
    const segments = searched.split('/');
    for (const { path, template, functions } of routes) {
      const pathParameters = match(template, segments);
      if (pathParameters) return { path, functions, pathParameters };
    }
    return undefined;
  };
}

/** Drops the origin that a request to a proxy has: `GET http://127.0.0.1:3000/v1/inventory`. */
function toTarget(url: string): string {
  return url.replace(/^https?:\/\/[^/?]*/i, '');
}

function splitOnce(text: string, separator: string): string[] {
  const index = text.indexOf(separator);
  return index < 0 ? [text] : [text.slice(0, index), text.slice(index + 1)];
}

function toPairs(rawHeaders: readonly string[]): [string, string][] {
  return Array.from({ length: rawHeaders.length / 2 }, (_, index) => [
    rawHeaders[2 * index] ?? '',
    rawHeaders[2 * index + 1] ?? '',
  ]);
}

function match(template: string[], segments: string[]): Record<string, string> | undefined {
  if (template.length !== segments.length) return undefined;
  const parameters: [string, string][] = [];
  for (const [index, expected] of template.entries()) {
    const segment = segments[index] ?? '';
    if (!expected.startsWith('{')) {
      if (segment !== expected) return undefined;
    } else if (segment === '') {
      return undefined;
    } else {
      parameters.push([expected.slice(1, -1), decode(segment)]);
    }
  }
  return Object.fromEntries(parameters);
}

/** Text that is not percent-encoded UTF-8 stays as it is, for the function to refuse. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
