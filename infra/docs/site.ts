import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { stages } from '../stages/stages.ts';
import { toExampleFacts, toOperationFacts, valueFacts } from './facts/contractFacts.ts';
import { toCostFacts } from './facts/costsPage.ts';
import { errorFacts } from './facts/errorFacts.ts';
import { toStageFacts } from './facts/stageFacts.ts';
import { guideNames, type Placeholders, readGuide } from './guide.ts';
import { type LocalAccess, type Site, type SiteFile, toGuidePage } from './page.ts';
import { defineReference, toPublishedDocument } from './reference.ts';

/**
 * Builds the guides and the reference. Without a stage of one's own they tell of staging and production
 * and hold no key.
 * @throws {Error} when a guide has a placeholder that is not known
 */
export async function buildSite(local?: LocalAccess): Promise<Site> {
  const { bytes, document } = toPublishedDocument();
  const { documentationAddress } = local ?? stages.production.settings;
  const facts: Placeholders = {
    ...toStageFacts(local),
    ...toOperationFacts(documentationAddress),
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
    ...(await defineReference(document, guides, local)),
    ['openapi.json', { type: 'application/json', body: bytes }],
    ['style.css', { type: 'text/css; charset=utf-8', body: await readAsset('style.css') }],
    ['icon.svg', { type: 'image/svg+xml', body: await readAsset('icon.svg') }],
  ]);
}

function readAsset(name: string): Promise<Buffer> {
  return readFile(new URL(name, import.meta.url));
}
