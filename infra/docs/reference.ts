import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import scalar from '@scalar/fastify-api-reference';
import { buildGuide, type Guide } from './guide.ts';
import { renderMarkdown } from './markdown.ts';
import { documentation } from './openapi/openApi.ts';
import {
  buildContact,
  type OpenApiDocument,
  readCommittedDocument,
} from './openapi/openApiDocument.ts';
import { type Access, renderPage, type SiteFile, toPolicy } from './page.ts';

/** The page that shows every operation and sends requests, with its scripts. */
export function defineReference(
  overview: Guide,
  { servers, components }: OpenApiDocument,
  guides: readonly Guide[],
  { apiKey, contact }: Access,
): [name: string, file: SiteFile][] {
  const [scheme = ''] = Object.keys(components.securitySchemes);
  const policy = buildReferencePolicy(servers.map(({ url }) => url));
  // With the key, "Send" works at once.
  const own = apiKey !== undefined && {
    authentication: {
      preferredSecurityScheme: scheme,
      securitySchemes: { [scheme]: { token: apiKey } },
    },
  };
  const configuration = JSON.stringify({ ...settings, ...own }, null, 2);
  const script = readScalar();
  const hash = createHash('sha256').update(script).digest('hex').slice(0, 16);
  const scalarName = `scalar-${hash}.js`;
  const constants = `const scalarName = '${scalarName}';\nconst configuration = ${configuration};\n`;
  const page = renderPage(overview, guides, contact, policy, ['site.js', 'reference.js']);
  return [
    ['reference.html', page],
    ['reference.js', { type: javascript, body: constants + ownScript }],
    [scalarName, { type: javascript, body: script, isImmutable: true }],
  ];
}

const ownScript = readFileSync(new URL('reference.js', import.meta.url), 'utf8');

/** The reference until a reader uses it, and for the search. It has the same anchors as Scalar. */
export function buildOverview({ info, externalDocs, paths, components }: OpenApiDocument): Guide {
  // Its links stay on the same site.
  const renderText = (text: string) => renderMarkdown(text.replaceAll(externalDocs.url, ''));
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const { operationId, summary, description, parameters, tags } = operation;
      const verb = method.toUpperCase();
      const names = listNames(parameters.map(({ name }) => name));
      return `<h2 id="${toOperationAnchor(tags[0] ?? '', verb, path)}">${operationId}: ${summary}</h2>
<p><code>${verb} ${path}</code></p>
${renderText(`${description}\n\nParameters: ${names}`)}`;
    }),
  );
  const models = Object.entries(components.schemas).map(([name, schema]) => {
    const { description = '', properties = {} } = schema as {
      description?: string;
      properties?: object;
    };
    const members = listNames(Object.keys(properties));
    const text = members === '' ? description : `${description}\n\nMembers: ${members}`;
    return `<h2 id="models/${name}">${name}</h2>\n${renderText(text)}`;
  });
  const introduction = renderText(String(info.description));
  const html = [introduction, ...operations, ...models].join('');
  return buildGuide('reference', 'API reference', html);
}

/** The anchor of an operation, as Scalar makes it. */
export function toOperationAnchor(tag: string, method: string, path: string): string {
  return `tag/${tag.toLowerCase()}/${method}${path}`;
}

function listNames(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

export const javascript = 'text/javascript; charset=utf-8';

/**
 * Scalar's own colours have too little contrast (https://www.w3.org/TR/WCAG22/#contrast-minimum). On a phone, its button
 * for the list of operations covers the address of a request. Where the links to documentation, contact and licence do not
 * fit in a line, it hides their names. It focuses a whole operation that a link leads to, and draws lines around it.
 */
const customCss = `
.light-mode {
  --scalar-color-2: #59636e;
  --scalar-color-3: #59636e;
  --scalar-color-blue: #0067a5;
  --scalar-color-green: #05704b;
  --scalar-color-orange: #a34e00;
  --scalar-color-red: #b3001b;
  --scalar-color-yellow: #806300;
}
.dark-mode {
  --scalar-color-2: #a2abb4;
  --scalar-color-3: #a2abb4;
  --scalar-color-red: #ff8a8a;
}
[tabindex="-1"]:focus-visible {
  outline: none;
}
.icons-only {
  flex-wrap: wrap;
}
.icons-only span {
  display: inline !important;
}
@media (width < 50rem) {
  .scalar-sidebar-toggle {
    top: 3.5rem !important;
  }
}`;

/** Turns off all that Scalar would fetch from elsewhere, report or store. Every operation is unfolded. */
const settings = {
  url: 'openapi.json',
  withDefaultFonts: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  // The header's search covers the guides too.
  hideSearch: true,
  telemetry: false,
  showDeveloperTools: 'never' as const,
  persistAuth: false,
  defaultOpenAllTags: true,
  customCss,
};

/**
 * The second line of defence behind `settings`: requests can go only to the documented servers. Scalar adds its styles
 * while it runs, so the policy cannot exclude inline styles.
 */
function buildReferencePolicy(addresses: readonly string[]): string {
  const origins = new Set(addresses.map((address) => new URL(address).origin));
  return toPolicy({
    'script-src': "'self'",
    'style-src': "'self' 'unsafe-inline'",
    'img-src': "'self' data:",
    'connect-src': ["'self'", ...origins].join(' '),
  });
}

/**
 * Scalar's script, with its licences. As a file, only @scalar/api-reference has it, with 270 other packages. So it comes
 * from a plug-in with 20, which keeps it in the handler of a route: it registers its routes here, without a server.
 */
function readScalar(): string {
  const routes: { url: string; handler(request: object, reply: object): string }[] = [];
  const host = { initialConfig: {}, route: (route: (typeof routes)[number]) => routes.push(route) };
  scalar(host as never, { configuration: settings }, () => {});
  const reply = { header: () => reply, send: (body: string) => body };
  const script = routes.find(({ url }) => url.endsWith('/scalar.js'))?.handler({}, reply);
  if (script === undefined) throw new Error('The package of Scalar has no script.');
  return script;
}

/** The document for publication: the committed one with the addresses of its readers. */
export function buildPublishedDocument({ documentationAddress, servers, contact }: Access) {
  const text = JSON.stringify(readCommittedDocument());
  const example: OpenApiDocument = JSON.parse(
    text.replaceAll(documentation, `${documentationAddress}/`),
  );
  const document: OpenApiDocument = {
    ...example,
    info: { ...example.info, contact: buildContact(contact) },
    servers: servers.map(({ name, baseUrl }) => ({
      url: baseUrl,
      description: `${name[0]?.toUpperCase()}${name.slice(1)}`,
    })),
  };
  return { bytes: Buffer.from(`${JSON.stringify(document, null, 2)}\n`), document };
}
