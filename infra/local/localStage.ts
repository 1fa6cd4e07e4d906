import { promisify } from 'node:util';
import { gzip, zstdCompress } from 'node:zlib';
import { apiVersion } from '../../shared/contract/operation.ts';
import { type ContentCoding, toContentCoding } from '../../shared/http/contentCoding.ts';
import type { Access, Site, SiteFile } from '../docs/page.ts';
import { toMethodNotAllowedError } from '../gateway/gatewayErrors.ts';
import type { Engine, EngineOptions, StartEngine } from './engine/engine.ts';
import { foreignHostRefusal, isLoopbackHost, listen } from './engine/loopback.ts';
import { defineDrain } from './gateway/connections.ts';
import type { FaultInjection } from './gateway/faultInjection.ts';
import { defineGateway, type Service } from './gateway/gateway.ts';
import { type GatewayAnswer, toErrorAnswer } from './gateway/messages.ts';
import { importHandler, type LoadHandler, loadFunctions } from './lambda/lambdaFunction.ts';
import { defineAwslambda, setFunctionEnvironment } from './lambda/lambdaRuntime.ts';
import { type FillOptions, fillTables, type LocalKeys } from './localTables.ts';

/** The service on this machine. */
export interface LocalStage extends LocalKeys {
  /** The base address, which ends in `/v1`. */
  readonly baseUrl: string;
  /** Without a slash at the end. */
  readonly documentationAddress: string;
  /** Where the engine speaks DynamoDB. */
  readonly engineEndpoint: string;
  /** Aborted when the engine ends before the stage does; the reason says so in one line. */
  readonly engineCrash: AbortSignal;
  /** Answers the requests under way, then ends the engine. */
  close(): Promise<void>;
}

export interface LocalStageOptions extends EngineOptions, FillOptions {
  /** 0 lets the system pick one. */
  readonly port: number;
  /** The engine is closed with the stage. */
  readonly startEngine: StartEngine;
  /** A handler, or a module that exports one as `handler`; by default those in `functions/`. */
  readonly loadHandler?: LoadHandler;
  /** Errors and delays to try clients with; none by default. */
  readonly faultInjection?: FaultInjection;
}

/**
 * Starts the stage and fills its tables. A process can have one, since the functions read the
 * environment when they are imported.
 * @throws {StartFailure} when a port or the folder cannot be used
 */
export async function startLocalStage(options: LocalStageOptions): Promise<LocalStage> {
  const service = Promise.withResolvers<Service>();
  const gateway = defineGateway(service.promise, options.faultInjection);
  const drain = defineDrain(gateway);
  // First, since loading data is in vain when the port is in use.
  const port = await listen(gateway, options.port, '--port');
  const baseUrl = `http://127.0.0.1:${port}/${apiVersion}`;
  let engine: Engine | undefined;
  try {
    engine = await options.startEngine(options);
    const { crash: engineCrash = new AbortController().signal } = engine;
    const documentationAddress = new URL('/docs', baseUrl).href;
    setFunctionEnvironment(engine.endpoint, documentationAddress);
    const signals = [engineCrash, ...(options.signal ? [options.signal] : [])];
    const keys = await fillTables({ ...options, signal: AbortSignal.any(signals) });
    defineAwslambda();
    const functions = await loadFunctions(options.loadHandler ?? importHandler);
    const own = { name: 'this machine', baseUrl, purpose: 'which serves these pages' };
    const { apiKey } = keys;
    const serveDocs = defineDocumentation({ documentationAddress, servers: [own], apiKey });
    service.resolve({ functions, documentationAddress, serveDocs });
    return {
      baseUrl,
      documentationAddress,
      ...keys,
      engineEndpoint: engine.endpoint,
      engineCrash,
      async close() {
        await drain();
        await engine?.close();
      },
    };
  } catch (error) {
    gateway.closeAllConnections();
    await drain();
    await engine?.close();
    throw error;
  }
}

/**
 * Answers GET and HEAD below the documentation's address. Its pages hold the key, so the Host header has to name the
 * loopback. The site is built when its first page is asked for, so that a start waits for none of it.
 * @param build makes the site; by default, the documentation
 */
export function defineDocumentation(
  local: Access,
  build = async (access: Access): Promise<Site> =>
    (await import('../docs/site.ts')).buildSite(access),
): NonNullable<Service['serveDocs']> {
  const { pathname: root } = new URL(local.documentationAddress);
  let site: Promise<Site> | undefined;

  return async function serveDocs({ method, fullPath, headerLines, requestId }) {
    if (fullPath !== root && !fullPath.startsWith(`${root}/`)) return undefined;
    const findHeader = (sought: string) =>
      headerLines.find(([name]) => name.toLowerCase() === sought)?.[1];
    if (!isLoopbackHost(findHeader('host'))) {
      return toErrorAnswer({ code: 'forbidden', message: foreignHostRefusal }, requestId);
    }
    if (fullPath === root) {
      return { statusCode: 302, headers: { Location: `${root}/` }, body: '' };
    }
    site ??= build(local);
    const file = (await site).get(fullPath.slice(root.length + 1) || 'index.html');
    if (!file) return undefined;
    if (method === 'GET' || method === 'HEAD') {
      return toAnswer(file, toContentCoding(findHeader('accept-encoding')));
    }
    return toErrorAnswer(toMethodNotAllowedError('GET, HEAD'), requestId);
  };
}

const compressors = { zstd: promisify(zstdCompress), gzip: promisify(gzip) };

/**
 * Of what may hold the key nothing is kept by the browser, since the next start on this port has another key; and no
 * page from elsewhere can load the key as a script.
 */
async function toAnswer(
  { type, policy, body, isImmutable }: SiteFile,
  coding: ContentCoding | undefined,
): Promise<GatewayAnswer> {
  return {
    statusCode: 200,
    headers: {
      'Content-Type': type,
      'Cache-Control': isImmutable ? 'public, max-age=31536000, immutable' : 'no-store',
      'X-Content-Type-Options': 'nosniff',
      'Cross-Origin-Resource-Policy': 'same-origin',
      Vary: 'Accept-Encoding',
      ...(coding !== undefined && { 'Content-Encoding': coding }),
      ...(policy !== undefined && { 'Content-Security-Policy': policy }),
    },
    body: coding === undefined ? body : await compressors[coding](body),
  };
}
