import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { priceResponses } from '../../../infra/costs/bills/costReport.ts';
import { readPricing } from '../../../infra/costs/bills/monthlyBill.ts';
import { readCommittedTraffic, sumRequests } from '../../../infra/costs/bills/traffic.ts';
import { buildSite, keywords } from '../../../infra/docs/buildSite.ts';
import { tarballName } from '../../../infra/docs/client/buildClient.ts';
import { fillPlaceholders, guideNames, renderGuide } from '../../../infra/docs/guide.ts';
import { type Access, renderPage, type Site, type SiteFile } from '../../../infra/docs/page.ts';
import { buildPublishedDocument } from '../../../infra/docs/reference.ts';
import { projectRoot } from '../../../infra/stages/projectRoot.ts';
import { stages, stagesForClients } from '../../../infra/stages/stages.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import { statusOfCode } from '../../../shared/contract/errorBody.ts';
import type { Operation } from '../../../shared/contract/operation.ts';
import { operationIds, operations } from '../../../shared/contract/operations.ts';

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
const openApiFile = new URL('../../../shared/contract/openapi.json', import.meta.url);
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

function toPages(from: Site): [name: string, page: SiteFile][] {
  return [...from].filter(([name]) => name.endsWith('.html'));
}

/** The text under a heading, up to the next heading of its level. */
function readSection(name: string, anchor: string): string {
  const [, section = ''] = read(name).split(`<h2 id="${anchor}">`);
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
function toLink(operationId: string, name = `<code>${operationId}</code>`): string {
  const [, anchor = ''] =
    new RegExp(`<h2 id="([^"]+)">${operationId}: `).exec(read('reference.html')) ?? [];
  return `<a href="reference.html#${encodeURI(anchor)}">${name}</a>`;
}

describe('the guides', () => {
  test('are all listed, and every placeholder has a text', () => {
    const files = globSync('*.md', { cwd: `${import.meta.dirname}/../../../infra/docs/guides` });
    expect(files.sort()).toEqual(guideNames.map((name) => `${name}.md`).sort());
    for (const name of guideNames) expect(read(`${name}.html`), name).not.toContain('{{');
  });

  test('have a section for each error code, with the operations that respond with it', () => {
    for (const [code, status] of Object.entries(statusOfCode)) {
      const from = rows.filter(({ errors }) => (errors as readonly string[]).includes(code));
      const names = from.map(({ operationId }) => toLink(operationId)).join(', ');
      const some = from.length === 0 ? 'at any path' : `from ${names}`;
      const all = from.length === rows.length ? 'from every operation' : some;
      const text = `Status <strong>${status}</strong>, ${all}.`;
      expect(readSection('errors.html', code), code).toContain(text);
    }
  });

  test('have the address, every throttle and the limits of the stages', () => {
    for (const { name, baseUrl, purpose } of deployed.servers) {
      const address = `<strong>${name}</strong>: <code>${baseUrl}</code>, ${purpose}`;
      expect(read('index.html')).toContain(address);
    }
    for (const id of [...operationIds, 'other'] as const) {
      const throttles = stagesForClients.map(({ settings }) => settings.throttles[id]);
      const label = id === 'other' ? 'all else' : toLink(id);
      const numbers = throttles.flatMap(({ rate, burst }) => [`${rate}`, `${burst}`]);
      expect(readRow('limits.html', label)).toEqual(numbers);
    }
    expect(readRow('limits.html', 'the body of any request')).toEqual(['10 MB']);
    expect(readRow('limits.html', 'names and values of all headers together')).toEqual([
      '10,240 bytes',
    ]);
  });

  test('have every operation with its level, and the headers and days of a deprecated one', () => {
    for (const { operationId, method, path, permission, lifecycle } of rows) {
      const cells = readRow('index.html', toLink(operationId));
      expect(cells.slice(0, 2)).toEqual([`<code>${method} ${path}</code>`, permission]);
      expect(cells[2]).toContain(lifecycle.kind);
      if (lifecycle.kind !== 'deprecated') continue;
      const [page = '', anchor = ''] = lifecycle.guide.split('#');
      for (const instant of [lifecycle.since, lifecycle.sunset]) {
        const day = `<strong>${instant.toISOString().slice(0, 10)}</strong>`;
        expect(readSection(page, anchor)).toContain(day);
      }
      const [since, sunset] = [+lifecycle.since / 1_000, lifecycle.sunset.toUTCString()];
      expect(readSection(page, anchor)).toContain(
        `Deprecation: @${since}\nSunset: ${sunset}\nLink: &lt;${documentationAddress}/${lifecycle.guide}&gt;; rel=&quot;deprecation&quot;`,
      );
      expect(read('deprecations.html')).toContain(`<a href="#${operationId}">`);
    }
  });

  test('have the model’s costs of requests, without rare responses', () => {
    const costs = read('costs.html');
    const lines = [...costs.matchAll(/<tr>\s*<td><a[^>]*>(\w+)<\/a><\/td>\s*<td>([^<]*)<\/td>/g)];
    const responses = lines.map(([, id, response]) => `${id} ${response}`);
    expect(responses).toEqual(expect.arrayContaining(['listInventory 200 gzip', 'listOrders 401']));
    expect(responses.join()).not.toMatch(/429|412|400/);
    const pricing = readPricing(stages.production, 1);
    const page = priceResponses(pricing, 1_000).find(
      ({ operationId, response }) => operationId === 'listOrders' && response === '200',
    );
    expect(costs).toMatch(/A million cost <strong>\$\d+\.\d\d<\/strong> with one pet each/);
    expect(costs).toContain(`<strong>${page?.dollarsPerMillion.toFixed(2)}</strong>`);
  });

  test('say from how many ids, and up to which length, a list is cheaper', () => {
    const text = readSection('lists.html', 'parts-of-a-list').replaceAll(/<[^>]*>/g, '');
    const traffic = readCommittedTraffic();
    const pricing = readPricing(stagesForClients[0], sumRequests(traffic));
    const price = (kind: string, length = traffic.entries) =>
      priceResponses(pricing, length).find(
        ({ operationId, response }) => operationId === 'listInventory' && response === kind,
      )?.dollarsPerMillion ?? Number.NaN;
    const [one, hundred] = [price('200 petId'), price('200 petIds')];
    const toIds = (ids: number) => one + ((ids - 1) * (hundred - one)) / 99;
    for (const [words, list] of [
      ['with gzip', price('200 gzip')],
      ['without', price('200')],
    ] as const) {
      const ids = new RegExp(`(?:(\\d+)|no number of) ids ${words}`).exec(text);
      expect(ids, words).not.toBeNull();
      const first = Number(ids?.[1] ?? Number.POSITIVE_INFINITY);
      expect(toIds(first)).toBeGreaterThanOrEqual(list);
      expect(toIds(Math.min(100, first - 10))).toBeLessThan(list);
    }
    const [, length = ''] = /From some ([\d,]+) entries on/.exec(text) ?? [];
    const entries = Number(length.replaceAll(',', ''));
    expect(price('200 gzip', entries)).toBeGreaterThanOrEqual(hundred);
    expect(price('200 gzip', entries - 100)).toBeLessThan(hundred);
    const pages =
      /pages of 100 orders cost \$(\S+), and of 1,000 orders \$(\S+)\.\s.* cost (\S+) times/;
    const [usual = 0, largest = 0, times] = (pages.exec(text) ?? []).slice(1).map(Number);
    const orders = priceResponses(pricing, 0).find((one) => one.operationId === 'listOrders');
    expect(usual).toBeCloseTo(orders?.dollarsPerMillion ?? 0, 2);
    // An order has more than 100 bytes, at $0.09 per GB.
    expect(largest - usual).toBeGreaterThan((900 * 100 * 1e6 * 0.09) / 2 ** 30);
    expect(times).toBeCloseTo((10 * usual) / largest, 1);
  });
});

describe('the operators', () => {
  const link = '<a href="mailto:api@shop.example">';

  test('are named with their contact on each guide, in the document, and where keys come from', () => {
    for (const name of guideNames) {
      expect(read(`${name}.html`), name).toContain(
        `<footer>Questions? ${link}api@shop.example</a>`,
      );
    }
    expect(readSection('index.html', 'with-which-key')).toContain(`come from ${link}the operators`);
    const contact = { name: 'The operators of the service', email: 'api@shop.example' };
    expect(JSON.parse(read('openapi.json')).info.contact).toEqual(contact);
  });

  test('may have a page in place of an address', async () => {
    const url = 'https://shop.example/help';
    const other = await buildSite({ ...deployed, contact: url });
    expect(read('index.html', other)).toContain(`<footer>Questions? <a href="${url}">${url}</a>`);
    const { contact } = JSON.parse(read('openapi.json', other)).info;
    expect(contact).toEqual({ name: 'The operators of the service', url });
  });

  test('of a local stage are its reader, so it has neither contact nor status page', () => {
    expect(read('index.html', localSite)).not.toContain('<footer>');
    expect(JSON.parse(read('openapi.json', localSite)).info).not.toHaveProperty('contact');
    expect(read('status.html', localSite)).toContain('There is no status page.');
  });
});

test('where it stands has the versions and the status page', () => {
  expect(read('status.html')).toContain('<a href="https://status.shop.example">status page</a>');
  const { version } = JSON.parse(read('openapi.json')).info;
  const cells = readRow('status.html', '<a href="openapi.json">OpenAPI document</a>');
  expect(cells[0]).toBe(version);
  expect(read('status.html')).toContain(`<td>${packageJson.version}</td>`);
});

test('the feed has each release of the changelog, with links that hold elsewhere, and nothing unreleased', () => {
  const feed = read('changes.atom');
  expect(site.get('changes.atom')?.type).toBe('application/atom+xml; charset=utf-8');
  const releases = [...read('changelog.html').matchAll(/<h2 id="([^"]+)">[\d.]+ - ([\d-]+)</g)];
  expect(releases.length).toBeGreaterThan(1);
  const entries = feed.split('<entry>').slice(1);
  expect(entries).toHaveLength(releases.length);
  for (const [index, [, anchor, day]] of releases.entries()) {
    expect(entries[index]).toContain(`<id>${documentationAddress}/changelog.html#${anchor}</id>`);
    expect(entries[index]).toContain(`<updated>${day}T00:00:00Z</updated>`);
    expect(entries[index]).toContain('<content type="html">&lt;ul>');
  }
  expect(feed.split('<entry>')[0]).toContain(`<updated>${releases[0]?.[2]}T00:00:00Z</updated>`);
  expect(feed).toContain(` xml:base="${documentationAddress}/"`);
  for (const [name, { body }] of toPages(site)) {
    expect(body, name).toContain('<link rel="alternate" href="changes.atom"');
  }
});

test('a placeholder is replaced in every place, and an unknown one fails the build', () => {
  const facts = { limit: () => '5', double: (text: string) => (text === '2' ? '4' : undefined) };
  expect(fillPlaceholders('{{limit}} `{{limit}}` {{double 2}}', facts)).toBe('5 `5` 4');
  for (const unknown of ['{{limits}}', '{{double 3}}', '{{toString}}', '{{ limit}}']) {
    expect(() => fillPlaceholders(`# a\n${unknown}`, facts)).toThrow(unknown);
  }
});

test('the guide has the cause and the fix of each error message', () => {
  const page = `${import.meta.dirname}/../../../infra/docs/guides/errors.md`;
  const items = readFileSync(page, 'utf8')
    .split(/^- (?=“)/m)
    .slice(1);
  expect(items.length).toBeGreaterThan(30);
  for (const item of items) {
    expect(item).toMatch(/^(?: *“.+”<br>\n)+ {2}\*Cause:\* .+?<br>\n {2}\*Fix:\* /s);
  }
});

test('a guide becomes a page with a menu, a list of its sections, and samples in languages', async () => {
  const guide = renderGuide(
    'updates',
    readFileSync(new URL('sampleGuide.md', import.meta.url), 'utf8'),
  );
  const guides = guideNames.map((name) => ({ ...guide, name, title: `Title of ${name}` }));
  await expect(renderPage(guide, guides).body).toMatchFileSnapshot('sampleGuide.txt');
  expect(guide.sections[0]?.text).toBe('Intro & "code".');
});

describe('the client', () => {
  test.each([
    ['the published site', () => site, documentationAddress],
    ['the local stage', () => localSite, local.documentationAddress],
  ])('is installed from %s by its address, in the first line of TypeScript', (_, from, address) => {
    const install = `npm install ${address}/${tarballName}\n`;
    const [, typescript] =
      /<code class="language-ts">(.*?)<\/code>/s.exec(read('index.html', from())) ?? [];
    expect(typescript?.startsWith(`// ${install}import { createPetstoreClient }`)).toBe(true);
    expect(read('client.html', from())).toContain(`<code class="language-sh">${install}</code>`);
  });

  test('is nowhere installed by its bare name, which anybody could register', () => {
    const texts = globSync('{*,{infra,shared,functions}/**/*}.{md,ts,js,sh,html}', {
      cwd: projectRoot,
    });
    expect(texts.length).toBeGreaterThan(200);
    const bare = /\b(?:npm|yarn|pnpm|bun) (?:i|add|install|ci)\b[^\n]* petstore-inventory-client\b/;
    expect(
      texts.filter((name) => bare.test(readFileSync(`${projectRoot}/${name}`, 'utf8'))),
    ).toEqual([]);
    for (const [name, { body }] of site) expect(String(body), name).not.toMatch(bare);
  });

  test('has its tarball, its types and its changelog in the site', async () => {
    const { type, body } = site.get(tarballName) ?? {};
    expect(type).toBe('application/gzip');
    const tarball = typeof body === 'function' ? await body() : '';
    const [code] = String(gunzipSync(tarball)).split('index.js').slice(1);
    expect(code).toContain(`"${documentationAddress}"`);
    expect(readSection('client.html', 'types')).toContain(
      'export interface PetstoreClient extends',
    );
    const entry = String(readSection('changelog.html', '1-1-0-2026-11-22'));
    expect(entry).toContain('<li>412 carries the current <code>ETag</code>.');
    expect(entry).not.toContain('cold start');
  });
});

describe('a page', () => {
  const toIds = (html: string) => [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);

  test('has, like the document, only links to existing pages and sections, unique ids, and a description', () => {
    const documentLinks = [...read('openapi.json').matchAll(/\]\(([^)]+)\)/g)];
    const links = [
      ...toPages(site).flatMap(([name, { body }]) =>
        [...String(body).matchAll(/href="([^"]*)"/g)].map(([, to = '']) => [name, to] as const),
      ),
      // The document is also read elsewhere.
      ...documentLinks.map(([, to = '']) => ['', to.replace(/^/, 'document: ')] as const),
    ];
    const broken = links.filter(([name, address]) => {
      const link = address.replace(`document: ${documentationAddress}/`, '');
      if (/^(?:https?|mailto):/.test(link)) return false;
      const [target, anchor] = link.split('#');
      const file = site.get(target || name);
      return (
        !file || (anchor !== undefined && !toIds(String(file.body)).includes(decodeURI(anchor)))
      );
    });
    expect(broken).toEqual([]);
    expect(documentLinks.length).toBeGreaterThan(10);
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
    expect(find('errors.html#not_found')).toMatchObject({ page: 'Errors', heading: 'not_found' });
    for (const { operationId, summary, method, path } of rows) {
      const found = entries.find(({ heading }) => heading === `${operationId}: ${summary}`);
      expect(found?.text).toContain(`${method} ${path} `);
      expect(found?.address).toMatch(new RegExp(`^reference.html#.*/${method}/`));
    }
    expect(find('reference.html#models/Order')?.text).toContain('shipDate');
    for (const [address, words] of Object.entries(keywords)) {
      expect(find(address)?.keywords, address).toBe(words);
    }
  });

  test('of a local stage links only to that stage, loads nothing from elsewhere, and has no inline script', () => {
    for (const [name, { body }] of toPages(localSite)) {
      expect(body, name).not.toContain(documentationAddress);
      const loaded = [...String(body).matchAll(/<(?:script|link|img|iframe)\b[^>]*>/g)];
      expect(loaded.length).toBeGreaterThan(0);
      for (const [tag] of loaded) expect(tag, name).toMatch(/ (?:src|href)="[\w.-]+"/);
      expect(body).not.toMatch(/<script[^>]*>[^<]|<style| style=| on\w+=/);
    }
    expect(read('style.css')).not.toMatch(/url\(|@import/);
  });

  test('calls only the stages from the reference, and only its own site from a guide', () => {
    const toConnections = (from: Site, name: string) =>
      /connect-src ([^;]+)/.exec(from.get(name)?.policy ?? '')?.[1];
    const origins = 'https://api.shop.example https://x.execute-api.eu-west-1.amazonaws.com';
    expect(toConnections(site, 'reference.html')).toBe(`'self' ${origins}`);
    expect(toConnections(localSite, 'reference.html')).toBe("'self' http://127.0.0.1:3456");
    expect(toConnections(site, 'index.html')).toBe("'self'");
  });
});

describe('the reference', () => {
  const toConfiguration = (from: Site) =>
    JSON.parse(/configuration = (.*?\n});/s.exec(read('reference.js', from))?.[1] ?? '');

  test('has the committed document, with the addresses of the stages', async () => {
    const { bytes, document } = buildPublishedDocument(deployed);
    expect(JSON.parse(String(bytes))).toEqual(document);
    const committed = await readFile(openApiFile, 'utf8');
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
