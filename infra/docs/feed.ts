import type { Guide } from './guide.ts';
import { escapeHtml } from './markdown.ts';

export const feedName = 'changes.atom';
export const feedType = 'application/atom+xml';

/** The released versions of the changelog, the newest first, as an Atom feed (RFC 4287). */
export function renderFeed(guides: readonly Guide[], documentationAddress: string): string {
  const base = escapeHtml(documentationAddress);
  const page = `${base}/deprecations.html`;
  // The page of release 2.0, since another id would be another feed.
  const id = `${base}/changelog.html`;
  const versions = findVersions(guides);
  const entries = versions.map(
    ({ anchor, version, day, html }) => `<entry>
<id>${id}#${anchor}</id>
<title>Version ${version}</title>
<updated>${day}T00:00:00Z</updated>
<link href="${page}#${anchor}"/>
<content type="html">${escapeHtml(html)}</content>
</entry>
`,
  );
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en" xml:base="${base}/">
<id>${id}</id>
<title>Changes of Petstore Inventory</title>
<updated>${versions[0]?.day}T00:00:00Z</updated>
<link rel="self" href="${base}/${feedName}"/>
<link href="${page}"/>
<author><name>Petstore Inventory</name></author>
${entries.join('')}</feed>
`;
}

/** A version without a day is not released. */
function findVersions(guides: readonly Guide[]) {
  const html = guides.find(({ name }) => name === 'deprecations')?.html ?? '';
  const sections = html.matchAll(
    /<h2 id="([^"]+)">(\S+) - (\d{4}-\d\d-\d\d)<\/h2>(.*?)(?=<h2|$)/gs,
  );
  return [...sections].map(([, anchor, version, day, text = '']) => ({
    anchor,
    version,
    day,
    html: text.trim(),
  }));
}
