import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { toExampleFacts, toOperationFacts, valueFacts } from './facts/contractFacts.ts';
import { toCostFacts } from './facts/costsPage.ts';
import { errorFacts } from './facts/errorFacts.ts';
import { toStageFacts } from './facts/stageFacts.ts';
import { guideNames, type Placeholders, readGuide } from './guide.ts';
import { type Access, type Site, type SiteFile, toGuidePage } from './page.ts';
import { defineReference, toPublishedDocument } from './reference.ts';

/**
 * Builds the guides and the reference.
 * @throws {Error} when a guide has a placeholder that is not known
 */
export async function buildSite(access: Access): Promise<Site> {
  const { bytes, document } = toPublishedDocument(access);
  const facts: Placeholders = {
    ...toStageFacts(access),
    ...toOperationFacts(access.documentationAddress),
    ...errorFacts,
    ...toExampleFacts(document),
    ...valueFacts,
    ...toCostFacts(),
    documentVersion: () => document.info.version,
    source: (name) => readFileSync(new URL(`guides/${name}`, import.meta.url), 'utf8').trimEnd(),
  };
  const guides = await Promise.all(guideNames.map((name) => readGuide(name, facts)));
  return new Map<string, SiteFile>([
    ...guides.map((guide) => [`${guide.name}.html`, toGuidePage(guide, guides)] as const),
    ...(await defineReference(document, guides, access.apiKey)),
    ['openapi.json', { type: 'application/json', body: bytes }],
    ['style.css', { type: 'text/css; charset=utf-8', body: await readAsset('style.css') }],
    ['icon.svg', { type: 'image/svg+xml', body: await readAsset('icon.svg') }],
  ]);
}

function readAsset(name: string): Promise<Buffer> {
  return readFile(new URL(name, import.meta.url));
}
