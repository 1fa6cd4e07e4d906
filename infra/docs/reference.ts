import scalar from '@scalar/fastify-api-reference';
import fastify from 'fastify';
import { type CommittedDocument, readCommittedDocument } from '../openapi/committedDocument.ts';
import type { OpenApiDocument } from '../openapi/openApi.ts';
import type { Guide } from './guide.ts';
import { type Access, type SiteFile, toHeader, toPage, toPolicy } from './page.ts';

/** The page that shows every operation and sends requests, with its scripts. */
export async function defineReference(
  { servers, components }: OpenApiDocument,
  guides: readonly Guide[],
  apiKey: string | undefined,
): Promise<[name: string, file: SiteFile][]> {
  const [scheme = ''] = Object.keys(components.securitySchemes);
  const addresses = servers.map(({ url }) => url);
  const body = `${toHeader(guides, 'reference.html')}<div id="reference"></div>`;
  const scripts = ['scalar.js', 'reference.js'];
  const page = toPage('Reference', toReferencePolicy(addresses), body, scripts);
  // With the key, a click on "Send" works at once.
  const own = apiKey !== undefined && {
    authentication: {
      preferredSecurityScheme: scheme,
      securitySchemes: { [scheme]: { token: apiKey } },
    },
  };
  const configuration = JSON.stringify({ ...settings, ...own }, null, 2);
  const start = `Scalar.createApiReference('#reference', ${configuration});\n`;
  return [
    ['reference.html', page],
    ['reference.js', { type: javascript, body: start }],
    ['scalar.js', { type: javascript, body: await readScalar() }],
  ];
}

const javascript = 'text/javascript; charset=utf-8';

/** All that Scalar would fetch from elsewhere, tell others or keep is off; every operation is in sight. */
const settings = {
  url: 'openapi.json',
  withDefaultFonts: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  telemetry: false,
  showDeveloperTools: 'never' as const,
  persistAuth: false,
  defaultOpenAllTags: true,
};

/**
 * The second line of defence behind `settings`: requests go to the documented servers alone. Scalar writes
 * its styles into the page while it runs, so these cannot be told from others.
 */
function toReferencePolicy(addresses: readonly string[]): string {
  const origins = new Set(addresses.map((address) => new URL(address).origin));
  return toPolicy({
    'script-src': "'self'",
    'style-src': "'self' 'unsafe-inline'",
    'img-src': "'self' data:",
    'connect-src': ["'self'", ...origins].join(' '),
  });
}

/**
 * Scalar's script, with the licences that it holds. This plug-in carries it as one file, in 67 packages
 * where @scalar/api-reference brings 270; it gives it out only over HTTP.
 */
async function readScalar(): Promise<Buffer> {
  const server = fastify();
  await server.register(scalar, { routePrefix: '/reference', configuration: settings });
  const { statusCode, rawPayload } = await server.inject('/reference/js/scalar.js');
  await server.close();
  if (statusCode !== 200)
    throw new Error(`Scalar's plug-in answered ${statusCode} for its script.`);
  return rawPayload;
}

/** The interface's document as it is published: the committed one, with the addresses that its readers need. */
export function toPublishedDocument({ documentationAddress, servers }: Access): CommittedDocument {
  const { document: committed } = readCommittedDocument();
  const document = {
    ...committed,
    externalDocs: { ...committed.externalDocs, url: documentationAddress },
    servers: servers.map(({ name, baseUrl }) => ({
      url: baseUrl,
      description: `${name[0]?.toUpperCase()}${name.slice(1)}`,
    })),
  };
  return { bytes: Buffer.from(`${JSON.stringify(document, null, 2)}\n`), document };
}
