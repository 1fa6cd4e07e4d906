import { readFileSync } from 'node:fs';
import { importFromPackage, packClient, tarballName } from './client/buildClient.ts';
import { readFacts } from './facts.ts';
import { feedName, feedType, renderFeed } from './feed.ts';
import { fillPlaceholders, type Guide, guideNames, menu, renderGuide } from './guide.ts';
import { type Access, renderPage, type Site, type SiteFile } from './page.ts';
import { buildOverview, buildPublishedDocument, defineReference, javascript } from './reference.ts';

/**
 * Builds the guides and the reference.
 * @throws {Error} when a guide has an unknown placeholder
 */
export async function buildSite(access: Access): Promise<Site> {
  const { documentationAddress, servers } = access;
  const { bytes, document } = buildPublishedDocument(access);
  const facts = await readFacts(access);
  const texts = guideNames.map((name) => {
    const text = fillPlaceholders(String(readAsset(`guides/${name}.md`)), facts);
    // The client's README has whole addresses, for its package.
    return [name, text.replaceAll(`](${documentationAddress}/`, '](')] as const;
  });
  const guides = texts.map(([name, text]) => renderGuide(name, text));
  const overview = buildOverview(document);
  let packed: Promise<Buffer> | undefined;
  // npm asks for a package three times to install it.
  const readTarball = () => {
    packed ??= packClient(documentationAddress, servers[0].baseUrl);
    return packed;
  };
  return new Map<string, SiteFile>([
    ...guides.map(
      (guide) => [`${guide.name}.html`, renderPage(guide, guides, access.contact)] as const,
    ),
    ...texts.map(
      ([name, text]) => [`${name}.md`, toTextFile(linkToMarkdown(text), 'markdown')] as const,
    ),
    ['llms.txt', toTextFile(listForTools([...guides, overview], documentationAddress))],
    ...examples.map((name) => [name, toTextFile(readExample(name, access))] as const),
    ...defineReference(overview, document, guides, access),
    ['openapi.json', { type: 'application/json', body: bytes }],
    [
      feedName,
      { type: `${feedType}; charset=utf-8`, body: renderFeed(guides, documentationAddress) },
    ],
    [
      'search.json',
      { type: 'application/json', body: buildSearchIndex([overview, ...guides], access) },
    ],
    [tarballName, { type: 'application/gzip', body: readTarball }],
    ['site.js', { type: javascript, body: readAsset('site.js') }],
    ['style.css', { type: 'text/css; charset=utf-8', body: readAsset('style.css') }],
    ['icon.svg', { type: 'image/svg+xml', body: readAsset('icon.svg') }],
  ]);
}

/** Words that readers search for, where the section that helps them has another. */
export const keywords: Readonly<Record<string, string>> = {
  'client.html#install': 'npm package download',
  'generated-clients.html': 'axios',
  'deprecations.html#status-page': 'health ping uptime outage incident maintenance down',
  'index.html#api-keys': 'CORS browser token authentication',
  'index.html#base-url': 'environment',
  'lists.html#only-when-it-has-changed': 'poll cache',
  'lists.html#pages': 'pagination paging',
  'lists.html#the-whole-inventory': 'csv export',
  'selling.html': 'decrement concurrency',
  'selling.html#a-cart-of-several-pets': 'bulk batch',
  'selling.html#reservations-and-payments': 'reserve hold',
  'selling.html#returns-and-cancellations': 'refund undo',
  'selling.html#where-stock-pets-and-orders-come-from': 'create delete remove',
};

/** The search index: every section with its address, in plain text. A local stage's key can have any word in it. */
function buildSearchIndex(guides: readonly Guide[], { apiKey = '' }: Access): string {
  const entries = guides.flatMap(({ name, title, sections }) =>
    sections.map(({ anchor, heading, text }) => {
      const address = `${name}.html${anchor && `#${anchor}`}`;
      return { page: title, heading: heading || title, text, address, keywords: keywords[address] };
    }),
  );
  return JSON.stringify(entries).replaceAll(apiKey, '');
}

/** Programs that a reader saves and runs. */
const examples = ['shop.ts', 'sell.py', 'curl.sh'];

function readExample(name: string, { servers }: Access): string {
  const code = String(readAsset(`../../shared/client/examples/${name}`));
  return importFromPackage(code).replaceAll('http://127.0.0.1:3000/v1', servers[0].baseUrl);
}

function toTextFile(body: string, subtype = 'plain'): SiteFile {
  return { type: `text/${subtype}; charset=utf-8`, body };
}

/** A tool that follows a link between guides gets Markdown again. */
function linkToMarkdown(text: string): string {
  return text.replaceAll(/(?<=\]\((?!reference\.)[\w-]+)\.html(?=[#)])/g, '.md');
}

/** Every page with its first sentence, for tools that read (https://llmstxt.org). */
function listForTools(pages: readonly Guide[], documentationAddress: string): string {
  const renderLine = (wanted: string) => {
    const { title = '', description = '' } = pages.find(({ name }) => name === wanted) ?? {};
    const [sentence = description] = /^.+?\.(?= )/.exec(description) ?? [];
    const file = wanted === 'reference' ? 'openapi.json' : `${wanted}.md`;
    return `- [${title}](${documentationAddress}/${file}): ${sentence}\n`;
  };
  const groups = Object.entries(menu).map(
    ([group, names]) => `\n## ${group}\n\n${names.map(renderLine).join('')}`,
  );
  return `# Petstore Inventory\n\n> ${pages[0]?.description}\n${groups.join('')}`;
}

function readAsset(name: string): Buffer {
  return readFileSync(new URL(name, import.meta.url));
}
