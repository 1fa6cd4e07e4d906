import { feedName, feedType } from './feed.ts';
import { type Guide, menu } from './guide.ts';
import { escapeHtml } from './markdown.ts';

export interface SiteFile {
  /** Its media type. */
  readonly type: string;
  /**
   * What a page may load and call (`Content-Security-Policy`). The page's own meta element says the same, but cannot
   * say `frame-ancestors`: a header must.
   */
  readonly policy?: string;
  /** A function makes what few readers load, on request. */
  readonly body: string | Buffer | (() => Promise<Buffer>);
  /** The name changes with the content, so browsers may cache the file. */
  readonly isImmutable?: boolean;
}

/** The files of the documentation by name, all in one folder. */
export type Site = ReadonlyMap<string, SiteFile>;

/** The addresses for the readers of a site. */
export interface Access {
  /** Where the site is published, without a slash at the end. */
  readonly documentationAddress: string;
  /** In the order that suits readers. Examples call the first. */
  readonly servers: readonly [Server, ...Server[]];
  /** Whom readers ask: an e-mail address, or that of a web page. Nobody, on the reader's own machine. */
  readonly contact?: string;
  /** Where outages are announced. */
  readonly statusPage?: string;
  /**
   * The key of a stage on the reader's own machine. The pages contain it, so never set a key of a stage that others can
   * reach.
   */
  readonly apiKey?: string;
}

export interface Server {
  /** A stage's name, or that of the reader's own machine. */
  readonly name: string;
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  readonly purpose: string;
}

/** Guides run one script, which reads the search index. */
const guidePolicy = toPolicy({
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self'",
  'connect-src': "'self'",
});

/**
 * @param guides all, for the menu
 * @param scripts their addresses; they run in this order once the page is parsed
 */
export function renderPage(
  { name, title, description, html, sections }: Guide,
  guides: readonly Guide[],
  contact?: string,
  policy = guidePolicy,
  scripts: readonly string[] = ['site.js'],
): SiteFile {
  const tags = scripts.map((address) => `<script src="${address}" defer></script>\n`);
  const isGuide = name !== 'reference';
  const contents = sections
    .filter(({ anchor }) => anchor !== '')
    .map(({ anchor, heading }) => `<li><a href="#${anchor}">${escapeHtml(heading)}</a></li>`);
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
<meta name="description" content="${escapeHtml(description)}">
<link rel="icon" href="icon.svg">
<link rel="stylesheet" href="style.css">
<link rel="alternate" href="${feedName}" type="${feedType}" title="Changes of Petstore Inventory">
${isGuide ? `<link rel="alternate" href="${name}.md" type="text/markdown">\n` : ''}${tags.join('')}</head>
<body class="${isGuide ? 'side' : 'top'}">
<a class="skip" href="#content">Skip to content</a>
<header class="site">
<a class="product" href="index.html">${isGuide ? 'Petstore Inventory' : '← Guides'}</a>
<div class="search" role="search">
<input type="search" placeholder="Search: /" aria-label="Search the guides and the reference" aria-keyshortcuts="/" autocomplete="off">
<div class="results"><p role="status"></p><ol></ol></div>
</div>
<details>
<summary>Pages</summary>
<nav class="menu" aria-label="Pages">
<ul>
${renderMenu(guides, name)}</ul>
</nav>
</details>
</header>
<div id="content" tabindex="-1">
<main class="guide">
<h1>${title}</h1>
<nav class="on-page" aria-label="On this page">
<ul>
${contents.join('\n')}
</ul>
</nav>
<div class="text">
${html}</div>
</main>
${contact === undefined ? '' : `<footer>Questions? <a href="${toContactLink(contact)}">${escapeHtml(contact)}</a></footer>\n`}</div>
</body>
</html>
`,
  };
}

export function toContactLink(contact: string): string {
  return contact.startsWith('https:') ? contact : `mailto:${contact}`;
}

function renderMenu(guides: readonly Guide[], current: string): string {
  const renderLink = (name: string) => {
    const { title } = guides.find((guide) => guide.name === name) ?? { title: 'API reference' };
    const mark = name === current ? ' aria-current="page"' : '';
    return `<li><a href="${name}.html"${mark}>${title}</a></li>\n`;
  };
  const groups = Object.entries(menu);
  return groups
    .map(
      ([group, names]) =>
        `<li class="group">${group}\n<ul>\n${names.map(renderLink).join('')}</ul>\n</li>\n`,
    )
    .join('');
}

/** Allows only what is named (https://www.w3.org/TR/CSP3/). */
export function toPolicy(directives: Readonly<Record<string, string>>): string {
  const all = { 'default-src': "'none'", 'base-uri': "'none'", 'form-action': "'none'" };
  return Object.entries({ ...all, ...directives })
    .map(([name, value]) => `${name} ${value}`)
    .join('; ');
}
