import type { LocalAccess, Site, SiteFile } from '../docs/page.ts';
import { type GatewayError, toMethodNotAllowedError } from '../gateway/gatewayErrors.ts';
import { foreignHostRefusal, isLoopbackHost } from './engine/loopback.ts';
import { type GatewayAnswer, toErrorAnswer } from './gateway/gatewayAnswer.ts';
import type { GatewayRequest } from './gateway/gatewayRequest.ts';

type ServeDocs = (request: GatewayRequest) => Promise<GatewayAnswer | undefined>;

const foreignHostError: GatewayError = { code: 'forbidden', message: foreignHostRefusal };

/**
 * Answers GET and HEAD below the documentation's address. Its pages hold the key, so the Host header has to name the
 * loopback. The site is built when its first page is asked for, so that a start waits for none of it.
 * @param build makes the site; by default, the documentation
 */
export function defineDocumentation(
  local: LocalAccess,
  build: (local: LocalAccess) => Promise<Site> = buildDocumentation,
): ServeDocs {
  const { pathname: root } = new URL(local.documentationAddress);
  let site: Promise<Site> | undefined;

  return async function serveDocs({ method, fullPath, headerLines, requestId }) {
    if (fullPath !== root && !fullPath.startsWith(`${root}/`)) return undefined;
    const [, host] = headerLines.find(([name]) => name.toLowerCase() === 'host') ?? [];
    if (!isLoopbackHost(host)) return toErrorAnswer(foreignHostError, requestId);
    if (fullPath === root) return redirect(`${root}/`);
    site ??= build(local);
    const file = (await site).get(fullPath.slice(root.length + 1) || 'index.html');
    if (!file) return undefined;
    if (method === 'GET' || method === 'HEAD') return toAnswer(file);
    return toErrorAnswer(toMethodNotAllowedError('GET, HEAD'), requestId);
  };
}

async function buildDocumentation(local: LocalAccess): Promise<Site> {
  const { buildSite } = await import('../docs/site.ts');
  return buildSite(local);
}

function redirect(location: string): GatewayAnswer {
  return { statusCode: 302, headers: { Location: location }, body: '' };
}

/**
 * Nothing is kept by the browser, since the next start on this port has another key; and no page from
 * elsewhere can load the key as a script.
 */
function toAnswer({ type, policy, body }: SiteFile): GatewayAnswer {
  return {
    statusCode: 200,
    headers: {
      'Content-Type': type,
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      'Cross-Origin-Resource-Policy': 'same-origin',
      ...(policy !== undefined && { 'Content-Security-Policy': policy }),
    },
    body,
  };
}
