import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Site, SiteFile } from '../../../infra/docs/page.ts';
import { toPublishedDocument } from '../../../infra/docs/reference.ts';
import { buildSite } from '../../../infra/docs/site.ts';
import { stages, stagesForClients } from '../../../infra/stages/stages.ts';
import { changeProduction } from '../../support/stageFixtures.ts';

const local = {
  baseUrl: 'http://127.0.0.1:3456/v1',
  documentationAddress: 'http://127.0.0.1:3456/docs',
  apiKey: 'psk_ofthelocalstage',
};
const openApiFile = new URL('../../../shared/contract/openapi.json', import.meta.url);

let site: Site;
let localSite: Site;
beforeAll(async () => {
  site = await buildSite();
  localSite = await buildSite(local);
});

function read(from: Site, name: string): string {
  return String(from.get(name)?.body);
}

function toPages(from: Site): [name: string, page: SiteFile][] {
  return [...from].filter(([name]) => name.endsWith('.html'));
}

describe('the links', () => {
  const toIds = (html: string) => [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);

  const documentLinks = () => read(site, 'openapi.json').matchAll(/\]\(([^)]+)\)/g);
  const pageLinks = (html: string) => html.matchAll(/href="([^"]*)"/g);

  test('of each page, and of the document, lead to pages and sections that exist', () => {
    const links = [
      ...toPages(site).flatMap(([name, { body }]) =>
        [...pageLinks(String(body))].map(([, to = '']) => [name, to] as const),
      ),
      ...[...documentLinks()].map(([, to = '']) => ['', to] as const),
    ];
    const broken = links.filter(([name, link]) => {
      if (/^https?:/.test(link)) return false;
      const [target, anchor] = link.split('#');
      const file = site.get(target || name);
      return !file || (anchor !== undefined && !toIds(String(file.body)).includes(anchor));
    });
    expect(broken).toEqual([]);
    expect([...documentLinks()].length).toBeGreaterThan(10);
    expect(links.length).toBeGreaterThan(100);
  });

  test('offer every page on every page, and mark the one that is read', () => {
    const names = toPages(site).map(([name]) => name);
    expect(names).toHaveLength(11);
    for (const [name, { body }] of toPages(site)) {
      const [nav = ''] = /<nav.*<\/nav>/s.exec(String(body)) ?? [];
      expect([...nav.matchAll(/href="([^"]+)"/g)].map(([, to]) => to).sort()).toEqual(names.sort());
      expect(nav).toContain(`<a href="${name}" aria-current="page">`);
    }
  });

  test('lead to no section twice named', () => {
    for (const [name, { body }] of toPages(site)) {
      const ids = toIds(String(body));
      expect([...new Set(ids)], name).toEqual(ids);
    }
  });
});

test('a page of a local stage leads to that stage alone', () => {
  const { documentationAddress } = stages.production.settings;
  for (const [name, { body }] of toPages(localSite)) {
    expect(String(body), name).not.toContain(documentationAddress);
  }
});

describe('a page', () => {
  test('loads nothing from elsewhere, and runs no script of its own text', () => {
    for (const [name, { body }] of toPages(localSite)) {
      const loaded = [...String(body).matchAll(/<(?:script|link|img|iframe)\b[^>]*>/g)];
      expect(loaded.length).toBeGreaterThan(0);
      for (const [tag] of loaded) expect(tag, name).toMatch(/ (?:src|href)="[\w.]+"/);
      expect(body).not.toMatch(/<script[^>]*>[^<]|<style| style=| on\w+=/);
    }
    expect(read(localSite, 'style.css')).not.toMatch(/url\(|@import/);
  });

  test('says in itself what the server says of it', () => {
    for (const [, { policy, body }] of toPages(site)) {
      expect(policy).toMatch(/^default-src 'none'; base-uri 'none'; form-action 'none';/);
      expect(body).toContain(`http-equiv="Content-Security-Policy" content="${policy}"`);
    }
  });

  test('calls nobody but the stages, and a guide nobody at all', () => {
    const toConnections = (from: Site, name: string) =>
      /connect-src ([^;]+)/.exec(from.get(name)?.policy ?? '')?.[1];
    const origins = stagesForClients.map(({ settings }) => new URL(settings.baseAddress).origin);
    expect(toConnections(site, 'reference.html')).toBe(`'self' ${origins.join(' ')}`);
    expect(toConnections(localSite, 'reference.html')).toBe("'self' http://127.0.0.1:3456");
    expect(toConnections(site, 'index.html')).toBeUndefined();
    expect(site.get('index.html')?.policy).not.toContain('script-src');
  });
});

describe('the reference', () => {
  function toConfiguration(from: Site) {
    return JSON.parse(read(from, 'reference.js').replace(/^[^{]+|[^}]+$/g, ''));
  }

  test('has the committed document, with the addresses of the stages', async () => {
    const { settings } = changeProduction({
      baseAddress: 'https://api.shop.example/v1',
      documentationAddress: 'https://docs.shop.example',
    });
    const { bytes, document } = toPublishedDocument(settings, [{ name: 'production', settings }]);
    const committed = JSON.parse(await readFile(openApiFile, 'utf8'));
    expect(JSON.parse(String(bytes))).toEqual(document);
    expect(document).toEqual({
      ...committed,
      externalDocs: { description: 'The documentation', url: 'https://docs.shop.example' },
      servers: [{ url: 'https://api.shop.example/v1', description: 'Production' }],
    });
    expect(site.get('openapi.json')?.body).toEqual(toPublishedDocument().bytes);
  });

  test('has the whole script', () => {
    expect(site.get('scalar.js')?.body.length).toBeGreaterThan(1_000_000);
  });

  test('asks nobody else and keeps nothing', () => {
    expect(toConfiguration(site)).toEqual({
      url: 'openapi.json',
      withDefaultFonts: false,
      agent: { disabled: true },
      mcp: { disabled: true },
      hideClientButton: true,
      telemetry: false,
      showDeveloperTools: 'never',
      persistAuth: false,
      defaultOpenAllTags: true,
    });
  });

  test('has the local stage and its key filled in there alone', () => {
    const { servers, authentication } = toConfiguration(localSite);
    expect(servers).toEqual([{ url: local.baseUrl, description: 'This machine' }]);
    const { preferredSecurityScheme: scheme, securitySchemes } = authentication;
    expect(Object.keys(JSON.parse(read(site, 'openapi.json')).components.securitySchemes)).toEqual([
      scheme,
    ]);
    expect(securitySchemes).toEqual({ [scheme]: { token: local.apiKey } });
    for (const [name, { body }] of site) expect(String(body), name).not.toMatch(/psk_\w/);
  });
});
