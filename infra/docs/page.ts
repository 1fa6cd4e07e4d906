import type { Guide } from './guide.ts';

/** A file of the documentation. */
export interface SiteFile {
  /** Its media type. */
  readonly type: string;
  /** What a page may load and call (`Content-Security-Policy`); the page itself says so too. */
  readonly policy?: string;
  readonly body: string | Buffer;
}

/** The files of the documentation by their names, all in one folder. */
export type Site = ReadonlyMap<string, SiteFile>;

/** Where the readers of a site find the service. */
export interface Access {
  /** Where the site itself lies, without a slash at the end. */
  readonly documentationAddress: string;
  /** In the order in which readers look for them; the examples call the first. */
  readonly servers: readonly [Server, ...Server[]];
  /** The key of a stage on the reader's own machine. It stands in the pages: never of one that others can reach. */
  readonly apiKey?: string;
}

export interface Server {
  /** A stage's, but for that on the reader's own machine. */
  readonly name: string;
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  readonly purpose: string;
}

/** The guides run no script and call nobody. */
const guidePolicy = toPolicy({ 'style-src': "'self'", 'img-src': "'self'" });

export function toGuidePage(guide: Guide, guides: readonly Guide[]): SiteFile {
  const header = toHeader(guides, `${guide.name}.html`);
  const body = `${header}<main class="guide">\n${guide.html}</main>`;
  return toPage(guide.title, guidePolicy, body);
}

/** @param scripts by their addresses, run in this order once the page stands */
export function toPage(
  title: string,
  policy: string,
  body: string,
  scripts: readonly string[] = [],
): SiteFile {
  const tags = scripts.map((address) => `<script src="${address}" defer></script>\n`);
  return {
    type: 'text/html; charset=utf-8',
    policy,
    body: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Petstore Inventory</title>
<link rel="icon" href="icon.svg">
<link rel="stylesheet" href="style.css">
${tags.join('')}</head>
<body>
${body}
</body>
</html>
`,
  };
}

/** The way to every page. */
export function toHeader(guides: readonly Guide[], current: string): string {
  const pages = [
    ...guides.map(({ name, title }) => [`${name}.html`, title]),
    ['reference.html', 'Reference'],
  ];
  const links = pages.map(([address, title]) => {
    const mark = address === current ? ' aria-current="page"' : '';
    return `<a href="${address}"${mark}>${title}</a>`;
  });
  return `<header class="pages">\n<nav aria-label="Pages">\n${links.join('\n')}\n</nav>\n</header>\n`;
}

/** Nothing is allowed but what is named (https://www.w3.org/TR/CSP3/). */
export function toPolicy(directives: Readonly<Record<string, string>>): string {
  const all = { 'default-src': "'none'", 'base-uri': "'none'", 'form-action': "'none'" };
  return Object.entries({ ...all, ...directives })
    .map(([name, value]) => `${name} ${value}`)
    .join('; ');
}
