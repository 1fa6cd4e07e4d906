import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { buildSite, keywords } from '../../../infra/docs/buildSite.ts';
import { tarballName } from '../../../infra/docs/client/buildClient.ts';
import { fillPlaceholders, guideNames, renderGuide } from '../../../infra/docs/guide.ts';
import { decodeHtml } from '../../../infra/docs/markdown.ts';
import {
  type Access,
  renderPage,
  type Site,
  type SiteFile,
  toContactLink,
} from '../../../infra/docs/page.ts';
import { buildPublishedDocument } from '../../../infra/docs/reference.ts';
import { projectRoot } from '../../../infra/stages/projectRoot.ts';
import { stagesForClients } from '../../../infra/stages/stages.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import { statusOfCode } from '../../../shared/contract/errorBody.ts';
import type { Operation } from '../../../shared/contract/operation.ts';
import { type OperationId, operations } from '../../../shared/contract/operations.ts';

const own = { name: 'this machine', baseUrl: 'http://127.0.0.1:3456/v1', purpose: 'here' };
const local: Access = {
  documentationAddress: 'http://127.0.0.1:3456/docs',
  servers: [own],
  apiKey: 'psk_ofthelocalstage',
};
const production = { name: 'production', baseUrl: 'https://api.shop.example/v1', purpose: 'sales' };
const staging = {
  name: 'staging',
  baseUrl: 'https://x.execute-api.eu-west-1.amazonaws.com/v1',
  purpose: 'for trying things out',
};
const deployed: Access = {
  documentationAddress: 'https://docs.shop.example',
  servers: [production, staging],
  contact: 'api@shop.example',
  statusPage: 'https://status.shop.example',
};
const { documentationAddress } = deployed;

let site: Site;
let localSite: Site;
beforeAll(async () => {
  site = await buildSite(deployed);
  localSite = await buildSite(local);
});

function read(name: string, from = site): string {
  return String(from.get(name)?.body);
}

/** A page without the colours of its samples. */
function readPlain(name: string, from = site): string {
  return read(name, from).replaceAll(/<\/?span[^>]*>/g, '');
}

function toPages(from: Site): [name: string, page: SiteFile][] {
  return [...from].filter(([name]) => name.endsWith('.html'));
}

/** The text under a heading, up to the next heading of its level. */
function readSection(name: string, anchor: string): string {
  const [, section = ''] = readPlain(name).split(`<h2 id="${anchor}">`);
  return section.split('<h2')[0] ?? '';
}

/** The cells of the row that begins with this one. */
function readRow(name: string, label: string): string[] {
  const [, row = ''] = read(name).split(`<td>${label}</td>`);
  const [cells = ''] = row.split('</tr>');
  return [...cells.matchAll(/<td>(.*?)<\/td>/g)].map(([, cell = '']) => cell);
}

const rows = Object.values<Operation>(operations);

/** An operation's name, which leads to its place in the reference. */
function toLink(operationId: string): string {
  const [, anchor = ''] =
    new RegExp(`<h2 id="([^"]+)">${operationId}: `).exec(read('reference.html')) ?? [];
  return `<a href="reference.html#${encodeURI(anchor)}"><code>${operationId}</code></a>`;
}

describe('the guides', () => {
  test('are all listed, and every placeholder has a text', () => {
    const files = globSync('*.md', { cwd: `${projectRoot}/infra/docs/guides` });
    expect(files.sort()).toEqual(guideNames.map((name) => `${name}.md`).sort());
    for (const name of guideNames) expect(read(`${name}.html`), name).not.toContain('{{');
  });

  test('have each error code with its status, and the operations that respond with it', () => {
    const [, ...lines] = readSection('errors.html', 'all-codes').split('<tr>\n<td>');
    expect(lines).toHaveLength(Object.keys(statusOfCode).length);
    for (const [code, status] of Object.entries(statusOfCode)) {
      const start = `${status}</td>\n<td><a href="#${code}">`;
      const text = lines.find((line) => line.startsWith(start)) ?? '';
      expect(text, code).not.toBe('');
      for (const { operationId, errors } of rows) {
        const isNamed = text.includes(toLink(operationId)) || text.includes('every operation');
        expect(isNamed, `${code} ${operationId}`).toBe(errors.some((one) => one === code));
      }
    }
  });

  test('have every operation with its throttles, and the headers and days of a deprecated one', () => {
    for (const { operationId, method, path, permission, lifecycle } of rows) {
      const throttles = stagesForClients.map(
        ({ settings }) => settings.throttles[operationId as OperationId],
      );
      const numbers = throttles.flatMap(({ rate, burst }) => [`${rate}`, `${burst}`]);
      expect(readRow('retries.html', toLink(operationId))).toEqual(numbers);
      const cells = readRow('index.html', toLink(operationId));
      expect(cells.slice(0, 2)).toEqual([`<code>${method} ${path}</code>`, permission]);
      expect(cells[2]).toContain(lifecycle.kind);
      if (lifecycle.kind !== 'deprecated') continue;
      const { since, sunset, guide } = lifecycle;
      const [page = '', anchor = ''] = guide.split('#');
      const text = readSection(page, anchor);
      for (const day of [since, sunset]) expect(text).toContain(day.toISOString().slice(0, 10));
      const headers = `Deprecation: @${+since / 1_000}\nSunset: ${sunset.toUTCString()}\nLink: `;
      expect(text).toContain(`${headers}&lt;${documentationAddress}/${guide}>;`);
    }
  });
});

const install = (address: string) => `npm install ${address}/${tarballName}\n`;

test.each<[string, string, string, (() => Site)?]>([
  ['index', 'an address of a stage', `<code>${staging.baseUrl}</code>, ${staging.purpose}`],
  ['index', 'who makes keys', 'come from <a href="mailto:api@shop.example">the operators'],
  ['index', 'whom to ask', '<footer>Questions? <a href="mailto:api@shop.example">'],
  ['index', 'the client in its first sample', `// ${install(documentationAddress)}import { `],
  ['deprecations', 'the version of the service', `have version ${packageJson.version}.`],
  ['deprecations', 'the status page', `<a href="${deployed.statusPage}">status page</a>`],
  ['deprecations', 'the lack of a status page', 'There is no status page.', () => localSite],
  ['client', 'the client of the published site', install(documentationAddress)],
  ['client', 'the client of the local stage', install(local.documentationAddress), () => localSite],
  ['deprecations', 'a change for clients', '<li>412 carries the current <code>ETag</code>.'],
])('the guide "%s" has %s', (name, _, text, from = () => site) => {
  expect(readPlain(`${name}.html`, from())).toContain(text);
});

test('the document names the operators by an address, a page, or on their own machine not at all', () => {
  const name = 'The operators of the service';
  const url = 'https://shop.example/help';
  const { document } = buildPublishedDocument({ ...deployed, contact: url });
  expect(document.info.contact).toEqual({ name, url });
  const toContact = (from: Site) => JSON.parse(read('openapi.json', from)).info.contact;
  expect(toContact(site)).toEqual({ name, email: deployed.contact });
  expect(toContact(localSite)).toBeUndefined();
  expect(read('index.html', localSite)).not.toContain('<footer>');
  expect(toContactLink(url)).toBe(url);
});

test('the feed is XML with each release of the changelog, with links that hold elsewhere, and nothing unreleased', () => {
  const feed = read('changes.atom');
  const [head = '', ...entries] = feed.split('<entry>');
  expect(feed.replaceAll(/&(?:amp|lt|quot);|<[^<>&]+>/g, '')).not.toMatch(/[<&]/);
  expect(head).toContain(` xml:base="${documentationAddress}/"`);
  const releases = [...read('deprecations.html').matchAll(/<h2 id="([^"]+)">[\d.]+ - ([\d-]+)</g)];
  expect(releases.length).toBeGreaterThan(1);
  expect(entries).toHaveLength(releases.length);
  for (const [index, [, anchor = '', day]] of releases.entries()) {
    const entry = entries[index] ?? '';
    expect(entry).toContain(`<id>${documentationAddress}/changelog.html#${anchor}</id>`);
    expect(entry).toContain(`<link href="${documentationAddress}/deprecations.html#${anchor}"/>`);
    expect(entry).toContain(`<updated>${day}T00:00:00Z</updated>`);
    const [, content = ''] = /<content type="html">(.+)<\/content>/s.exec(entry) ?? [];
    expect(readSection('deprecations.html', anchor)).toContain(decodeHtml(content));
  }
});

test('a placeholder is replaced in every place, and an unknown one fails the build', () => {
  const facts = { limit: () => '5', double: (text: string) => (text === '2' ? '4' : undefined) };
  expect(fillPlaceholders('{{limit}} `{{limit}}` {{double 2}}', facts)).toBe('5 `5` 4');
  for (const unknown of ['{{limits}}', '{{double 3}}', '{{toString}}', '{{ limit}}']) {
    expect(() => fillPlaceholders(`# a\n${unknown}`, facts)).toThrow(unknown);
  }
});

test('the guide has a cause and a fix for each error code', () => {
  const guide = readFileSync(`${projectRoot}/infra/docs/guides/errors.md`, 'utf8');
  const [, ...sections] = guide.split(/^## (?=`)/m);
  expect(sections.length).toBeGreaterThan(Object.keys(statusOfCode).length);
  for (const section of sections) {
    const [, ...items] = section.split(/^- /m);
    expect(items, section).not.toEqual([]);
    for (const item of items) {
      // Code may have asterisks.
      const text = item.replaceAll(/`[^`]+`/g, 'code');
      expect(text).toMatch(/^[^*]+\s\*\*Fix:\*\*\s[^*]+/);
    }
  }
});

test('a text, a sample and a heading are escaped, and their plain text is searched', () => {
  const text = '# A\n\n`"a"` &amp; b.\n\n## `x<y>`\n\n```sh\ncurl <a> &\n```';
  const guide = renderGuide('updates', text);
  expect(guide).toMatchObject({ title: 'A', description: '"a" & b.' });
  const { body } = renderPage(guide, [guide]);
  expect(body).toContain('<meta name="description" content="&quot;a&quot; &amp; b.">');
  const plain = String(body).replaceAll(/<\/?span[^>]*>/g, '');
  expect(plain).toContain('<code class="language-sh">curl &lt;a> &amp;\n</code>');
  expect(body).toContain('<li><a href="#x-y">x&lt;y></a></li>');
  expect(guide.sections[1]).toEqual({ anchor: 'x-y', heading: 'x<y>', text: 'curl <a> &' });
});

test('each sample has the text of its guide, in colours of the style sheet', () => {
  const sheet = read('style.css');
  const kinds = new Set<string>();
  const samples = guideNames.flatMap((name) => {
    // Those of a list are indented.
    const fences = read(`${name}.md`).matchAll(/^( *)```(\w+)\n(.*?\n) *```$/gms);
    const blocks = [...fences].map(([, indent = '', language, code = '']) => [
      language,
      code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    ]);
    const codes = [
      ...read(`${name}.html`).matchAll(/<code class="language-(\w+)">(.*?)<\/code>/gs),
    ];
    const texts = codes.map(([, language, html = '']) => {
      for (const [, kind = ''] of html.matchAll(/ class="(.*?)"/g)) kinds.add(kind);
      return [language, decodeHtml(html.replaceAll(/<[^>]*>/g, ''))];
    });
    expect(texts, name).toEqual(blocks);
    return texts;
  });
  expect(samples.length).toBeGreaterThan(25);
  expect([...kinds].sort()).toEqual(['comment', 'keyword', 'name', 'value']);
  for (const kind of kinds) expect(sheet).toContain(`.sample .${kind} {`);
  expect(() => renderGuide('updates', '```tx\na\n```')).toThrow('tx');
});

describe('for tools', () => {
  const toLinks = (text: string) => [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, to = '']) => to);

  test('each guide is Markdown too, filled in, with links to Markdown', () => {
    for (const name of guideNames) {
      const { type } = site.get(`${name}.md`) ?? {};
      expect(type).toBe('text/markdown; charset=utf-8');
      const text = read(`${name}.md`);
      expect(text).toMatch(/^# \S/);
      expect(text).not.toContain('{{');
      expect(text).not.toContain(`](${documentationAddress}`);
      const pages = toLinks(text).filter((to) => !/^(?:https?:|mailto:|#)/.test(to));
      const files = pages.map((to) => to.replace(/#.*/, ''));
      expect(files.filter((file) => !site.has(file))).toEqual([]);
      expect(files.filter((file) => /(?<!^reference)\.html$/.test(file))).toEqual([]);
      const { body } = site.get(`${name}.html`) ?? {};
      expect(body).toContain(`<link rel="alternate" href="${name}.md" type="text/markdown">`);
    }
    expect(read('lists.md', localSite)).toContain(`Bearer ${local.apiKey}'`);
    expect(read('reference.html')).not.toContain('.md"');
  });

  test('a list has every page, with a sentence of it', () => {
    const list = read('llms.txt');
    expect(site.get('llms.txt')?.type).toBe('text/plain; charset=utf-8');
    expect(list).toMatch(/^# Petstore Inventory\n\n> .+\.\n\n## First steps\n\n- \[/);
    const entries = [...list.matchAll(/^- \[(.+)\]\((.+)\): .+[.:]$/gm)];
    expect(entries).toHaveLength(list.split('\n- ').length - 1);
    const names = toLinks(list).map((to) => to.replace(`${documentationAddress}/`, ''));
    const files = [...guideNames.map((name) => `${name}.md`), 'openapi.json'];
    expect(names.sort()).toEqual(files.sort());
  });

  test.each([
    ['shop.ts', "from 'petstore-inventory-client';"],
    ['sell.py', `BASE_URL=${production.baseUrl} `],
    ['curl.sh', `BASE_URL=${production.baseUrl} `],
  ])('%s runs outside the repository', (name, text) => {
    expect(site.get(name)?.type).toBe('text/plain; charset=utf-8');
    expect(read(name)).toContain(text);
    expect(read(name)).not.toMatch(/\.\.\/|Elsewhere/);
  });
});

test.each([
  ['sh ts python', 'sh+ts+python'],
  ['sh ts sh python', 'sh+ts sh+python'],
  ['sh sh json python ts', ''],
])('of adjacent samples in %s, these are groups of languages: %s', (languages, groups) => {
  const samples = languages.split(' ').map((language) => `\`\`\`${language}\na\n\`\`\`\n`);
  const { html } = renderGuide('updates', samples.join('\n'));
  const found = html.split('<div class="samples"').slice(1);
  const toNames = (group: string) => [...group.matchAll(/ value="(\w+)"/g)].map(([, name]) => name);
  expect(found.map((group) => toNames(group).join('+')).join(' ')).toBe(groups);
  expect(html.match(/ checked/g) ?? []).toHaveLength(groups ? 1 : 0);
});

describe('the client', () => {
  test('is nowhere installed by its bare name, which anybody could register', () => {
    const texts = globSync('{*,{infra,shared,functions}/**/*}.{md,ts,js,sh,html}', {
      cwd: projectRoot,
    });
    expect(texts.length).toBeGreaterThan(200);
    const bare = /\b(?:npm|yarn|pnpm|bun) (?:i|add|install|ci)\b[^\n]* petstore-inventory-client\b/;
    const isBare = (name: string) => bare.test(readFileSync(`${projectRoot}/${name}`, 'utf8'));
    expect(texts.filter(isBare)).toEqual([]);
    for (const [name, { body }] of site) expect(String(body), name).not.toMatch(bare);
  });

  test('has its tarball in the site, with the site’s address', async () => {
    const { type, body } = site.get(tarballName) ?? {};
    expect(type).toBe('application/gzip');
    const tarball = typeof body === 'function' ? await body() : '';
    const [code] = String(gunzipSync(tarball)).split('index.js').slice(1);
    expect(code).toContain(`"${documentationAddress}"`);
  });
});

describe('a page', () => {
  const toIds = (html: string) => [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);

  test('has, like the document, only links to existing pages and sections, unique ids, and a description', () => {
    const links = toPages(site).flatMap(([name, { body }]) =>
      [...String(body).matchAll(/href="([^"]*)"/g)].map(([, to = '']) => [name, to] as const),
    );
    // The document is also read elsewhere.
    const ofDocument = [...read('openapi.json').matchAll(/\]\(([^)]+)\)/g)].map(
      ([, to = '']) => ['', `document: ${to}`] as const,
    );
    const broken = [...links, ...ofDocument].filter(([name, address]) => {
      const link = address.replace(`document: ${documentationAddress}/`, '');
      if (/^(?:https?|mailto):/.test(link)) return false;
      const [target, anchor] = link.split('#');
      const file = site.get(target || name);
      return (
        !file || (anchor !== undefined && !toIds(String(file.body)).includes(decodeURI(anchor)))
      );
    });
    expect(broken).toEqual([]);
    expect(ofDocument.length).toBeGreaterThan(10);
    expect(links.length).toBeGreaterThan(100);
    for (const [name, { body }] of toPages(site)) {
      const ids = toIds(String(body));
      expect([...new Set(ids)], name).toEqual(ids);
      expect(body, name).toMatch(/<meta name="description" content="[^"<]{20,}">/);
    }
  });

  test('can be searched for every section, operation and model', () => {
    const entries = JSON.parse(read('search.json')) as Record<string, string>[];
    const find = (address: string) => entries.find((entry) => entry.address === address);
    const sections = toPages(site).flatMap(([name, { body }]) => {
      const anchors = [...String(body).matchAll(/<h2 id="([^"]+)"/g)];
      return [name, ...anchors.map(([, anchor]) => `${name}#${anchor}`)];
    });
    expect(entries.map(({ address }) => address).sort()).toEqual(sections.sort());
    for (const { operationId, summary, method, path } of rows) {
      const found = entries.find(({ heading }) => heading === `${operationId}: ${summary}`);
      expect(found?.text).toContain(`${method} ${path} `);
    }
    expect(find('reference.html#models/Order')?.text).toContain('shipDate');
    expect(read('search.json', localSite)).not.toContain(local.apiKey);
    for (const [address, words] of Object.entries(keywords)) {
      expect(find(address)?.keywords, address).toBe(words);
    }
  });

  test('loads nothing from elsewhere, has no inline script, and has a policy that allows neither', () => {
    const all = "default-src 'none'; base-uri 'none'; form-action 'none'; script-src 'self'";
    const ofGuide = `${all}; style-src 'self'; img-src 'self'; connect-src 'self'`;
    const toPolicy = (origins: string) =>
      `${all}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self' ${origins}`;
    for (const [from, origins] of [
      [site, 'https://api.shop.example https://x.execute-api.eu-west-1.amazonaws.com'],
      [localSite, 'http://127.0.0.1:3456'],
    ] as const) {
      for (const [name, { body, policy }] of toPages(from)) {
        expect(policy, name).toBe(name === 'reference.html' ? toPolicy(origins) : ofGuide);
        const [first] = /<meta http-equiv=[^>]*>|<(?:script|link|style)/.exec(String(body)) ?? [];
        expect(first).toBe(`<meta http-equiv="Content-Security-Policy" content="${policy}">`);
        const loaded = [...String(body).matchAll(/<(?:script|link|img|iframe|object)\b[^>]*>/g)];
        expect(loaded.length).toBeGreaterThan(0);
        for (const [tag] of loaded) expect(tag, name).toMatch(/ (?:src|href)="[\w.-]+"/);
        expect(body).not.toMatch(/<script[^>]*>[^<]|<style| style=| on\w+=/);
        if (from === localSite) expect(body, name).not.toContain(documentationAddress);
      }
    }
    expect(read('style.css')).not.toMatch(/url\(|@import/);
  });
});

describe('the reference', () => {
  const toConfiguration = (from: Site) =>
    JSON.parse(/configuration = (.*?\n});/s.exec(read('reference.js', from))?.[1] ?? '');

  test('has the committed document, with the addresses of the stages', () => {
    const { bytes, document } = buildPublishedDocument(deployed);
    expect(JSON.parse(String(bytes))).toEqual(document);
    const committed = readFileSync(`${projectRoot}/shared/contract/openapi.json`, 'utf8');
    expect(document).toEqual({
      ...JSON.parse(committed.replaceAll('docs.petstore.example', 'docs.shop.example')),
      externalDocs: { description: 'The documentation', url: 'https://docs.shop.example/' },
      info: document.info,
      servers: [
        { url: 'https://api.shop.example/v1', description: 'Production' },
        { url: staging.baseUrl, description: 'Staging' },
      ],
    });
    expect(site.get('openapi.json')?.body).toEqual(bytes);
  });

  test('has the whole script, which calls no other server, stores nothing, and is cached by its content', () => {
    const scripts = [...read('reference.html').matchAll(/<script src="(.*)" defer>/g)];
    expect(scripts.map(([, script]) => script)).toEqual(['site.js', 'reference.js']);
    const [, scalar = ''] = /scalarName = '(.*)'/.exec(read('reference.js')) ?? [];
    const { isImmutable } = site.get(scalar) ?? {};
    const body = read(scalar);
    const hash = createHash('sha256').update(body).digest('hex').slice(0, 16);
    expect({ scalar, isImmutable }).toEqual({ scalar: `scalar-${hash}.js`, isImmutable: true });
    expect(body.length).toBeGreaterThan(1_000_000);
    expect([...site.values()].filter((file) => file.isImmutable)).toHaveLength(1);
    const off = { agent: { disabled: true }, mcp: { disabled: true }, telemetry: false };
    const sealed = { ...off, withDefaultFonts: false, persistAuth: false };
    expect(toConfiguration(site)).toMatchObject(sealed);
  });

  test('has the stage and its key prefilled only on a local stage', () => {
    const { authentication } = toConfiguration(localSite);
    const { servers } = JSON.parse(read('openapi.json', localSite));
    expect(servers).toEqual([{ url: own.baseUrl, description: 'This machine' }]);
    const { preferredSecurityScheme: scheme, securitySchemes } = authentication;
    const { components } = JSON.parse(read('openapi.json'));
    expect(Object.keys(components.securitySchemes)).toEqual([scheme]);
    expect(securitySchemes).toEqual({ [scheme]: { token: local.apiKey } });
    for (const [name, { body }] of site) expect(String(body), name).not.toMatch(/psk_\w/);
  });
});

const file = '../../../infra/docs/guides/parseExact.js';
const { parseExact } = (await import(file)) as { parseExact(text: string): unknown };

test('the snippet reads integers that a number cannot hold as BigInt, and leaves the rest', () => {
  const numbers = '{"petId":9223372036854775807},-9223372036854775808,9007199254740993';
  expect(parseExact(`[${numbers},9007199254740991,0.5,1e400,"1",null]`)).toEqual([
    { petId: 9223372036854775807n },
    ...[-9223372036854775808n, 9007199254740993n, 9007199254740991, 0.5],
    ...[Number.POSITIVE_INFINITY, '1', null],
  ]);
});

test('the snippet throws instead of rounding if JSON.parse gives no source text', () => {
  const { parse } = JSON;
  const older: typeof parse = (text, reviver) =>
    parse(text, (key, value) => reviver?.call(undefined, key, value));
  using _ = vi.spyOn(JSON, 'parse').mockImplementation(older);
  expect(parseExact('{"petId":7,"quantity":0.5}')).toEqual({ petId: 7, quantity: 0.5 });
  expect(() => parseExact('{"petId":9007199254740993}')).toThrow(
    new TypeError('JSON.parse gives no source text here: petId would be rounded.'),
  );
});
