import { apiVersion } from '../../shared/contract/operation.ts';
import { type OperationId, operationIds, operations } from '../../shared/contract/operations.ts';
import type { Access, Site, SiteFile } from '../docs/page.ts';
import { methodNotAllowedError } from '../gateway/gatewayErrors.ts';
import { operationSettings } from '../stages/stages.ts';
import type { Engine, EngineOptions, StartEngine } from './engine/engine.ts';
import { foreignHostRefusal, isLoopbackHost, listen } from './engine/loopback.ts';
import { defineDrain } from './gateway/connections.ts';
import type { FaultInjection } from './gateway/faultInjection.ts';
import { defineGateway, type LambdaFunction, type Service } from './gateway/gateway.ts';
import { type GatewayResponse, toErrorResponse } from './gateway/messages.ts';
import { defineAwslambda, setFunctionEnvironment } from './lambdaRuntime.ts';
import { type FillOptions, fillTables } from './localTables.ts';

export type LocalStage = Awaited<ReturnType<typeof startLocalStage>>;

export type LoadModule = (operationId: OperationId) => Promise<Pick<LambdaFunction, 'handler'>>;

export interface LocalStageOptions extends EngineOptions, FillOptions {
  /** 0 lets the system choose one. */
  readonly port: number;
  /** The stage closes the engine. */
  readonly startEngine: StartEngine;
  /** By default, those in `functions/`. */
  readonly loadModule?: LoadModule;
  readonly faultInjection?: FaultInjection;
}

/**
 * Starts the stage and fills its tables. A process can have only one, since the functions read the environment on
 * import.
 * @throws {Error} when a port or the folder cannot be used
 */
export async function startLocalStage(options: LocalStageOptions) {
  const service = Promise.withResolvers<Service>();
  const gateway = defineGateway(service.promise, options.faultInjection);
  const drain = defineDrain(gateway);
  // First, since loading data is useless if the port is in use.
  const port = await listen(gateway, options.port, '--port');
  const baseUrl = `http://127.0.0.1:${port}/${apiVersion}`;
  let engine: Engine | undefined;
  /** Finishes the requests in progress, then closes the engine. */
  async function close() {
    await drain();
    await engine?.close();
  }
  try {
    engine = await options.startEngine(options);
    const documentationAddress = new URL('/docs', baseUrl).href;
    setFunctionEnvironment(engine.endpoint, documentationAddress);
    const keys = await fillTables(engine.putItems, options);
    defineAwslambda();
    const functions = await loadFunctions(options.loadModule ?? importModule);
    const own = { name: 'this machine', baseUrl, purpose: 'which serves these pages' };
    const { apiKey } = keys;
    const serveDocs = defineDocumentation({ documentationAddress, servers: [own], apiKey });
    service.resolve({ functions, documentationAddress, serveDocs });
    return {
      /** The base URL, which ends in `/v1`. */
      baseUrl,
      /** Without a slash at the end. */
      documentationAddress,
      ...keys,
      engineEndpoint: engine.endpoint,
      close,
    };
  } catch (error) {
    gateway.closeAllConnections();
    await close();
    throw error;
  }
}

export const importModule: LoadModule = (id) => import(`../../functions/${id}.ts`);

async function loadFunctions(loadModule: LoadModule): Promise<LambdaFunction[]> {
  return Promise.all(
    operationIds.map(async (id) => ({
      operation: operations[id],
      timeoutMilliseconds: operationSettings[id].timeoutSeconds * 1000,
      handler: (await loadModule(id)).handler,
    })),
  );
}

/**
 * Responds to GET and HEAD below the documentation's address, to which `/` leads. Its pages contain the key, so the Host
 * header must name the loopback. The site is built on its first request, so that it does not delay the start.
 */
function defineDocumentation(local: Access): NonNullable<Service['serveDocs']> {
  const { pathname: root } = new URL(local.documentationAddress);
  let site: Promise<Site> | undefined;

  return async function serveDocs({ method, fullPath, headerLines, requestId }) {
    const isRead = method === 'GET' || method === 'HEAD';
    const leadsHere = fullPath === root || (fullPath === '/' && isRead);
    if (!leadsHere && !fullPath.startsWith(`${root}/`)) return undefined;
    const [, host] = headerLines.find(([name]) => name.toLowerCase() === 'host') ?? [];
    if (!isLoopbackHost(host)) {
      return toErrorResponse({ code: 'forbidden', message: foreignHostRefusal }, requestId);
    }
    if (leadsHere) {
      return { statusCode: 302, headers: { Location: `${root}/` }, body: '' };
    }
    site ??= import('../docs/buildSite.ts').then(({ buildSite }) => buildSite(local));
    const file = (await site).get(fullPath.slice(root.length + 1) || 'index.html');
    if (!file) return undefined;
    if (isRead) return toResponse(file);
    return toErrorResponse(methodNotAllowedError('GET, HEAD'), requestId);
  };
}

/**
 * Browsers must not store a file that may contain the key, since the next start on this port has another key. No page
 * from elsewhere can load the key as a script.
 */
async function toResponse({ type, policy, body, isImmutable }: SiteFile): Promise<GatewayResponse> {
  return {
    statusCode: 200,
    headers: {
      'Content-Type': type,
      'Cache-Control': isImmutable ? 'public, max-age=31536000, immutable' : 'no-store',
      'X-Content-Type-Options': 'nosniff',
      'Cross-Origin-Resource-Policy': 'same-origin',
      ...(policy !== undefined && {
        'Content-Security-Policy': `${policy}; frame-ancestors 'none'`,
      }),
    },
    body: typeof body === 'function' ? await body() : body,
  };
}
