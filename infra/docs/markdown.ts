import { Marked, Renderer } from 'marked';

/** Languages and their names. Adjacent blocks in this order are a group. */
const languages: Readonly<Record<string, string>> = {
  sh: 'curl',
  ts: 'TypeScript',
  python: 'Python',
};

// Elements that scroll by themselves are focusable, so that the keyboard can scroll them.
const marked = new Marked({
  renderer: {
    heading({ tokens, depth, text }) {
      return `<h${depth} id="${toAnchor(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
    code(token) {
      const block = Renderer.prototype.code.call(this, token).trimEnd();
      return `<div class="sample">${block.replace('<pre>', '<pre tabindex="0">')}</div>\n`;
    },
    table(token) {
      return `<div class="wide" tabindex="0">${Renderer.prototype.table.call(this, token)}</div>\n`;
    },
  },
});

/**
 * A group of samples shows one language, which its radio buttons choose. Without a script, those of all groups belong
 * together, and the style sheet shows the chosen language in the whole page.
 */
export function renderMarkdown(markdown: string): string {
  const html = marked.parse(markdown, { async: false });
  return html
    .replaceAll(sampleGroup, (group) => {
      const names = [...group.matchAll(/"language-(\w+)"/g)].map(([, name = '']) => name);
      if (names.length < 2) return group;
      const labels = names.map(
        (name) =>
          `<label class="${name}"><input type="radio" name="language" value="${name}">${languages[name]}</label>\n`,
      );
      const samples = group.replaceAll(
        /<div class="sample">(?=<pre[^>]*><code class="language-(\w+)")/g,
        (_, name: string) => `<div class="sample ${name}" data-language="${languages[name]}">`,
      );
      return `<div class="samples" role="group" aria-label="Language">\n${labels.join('')}${samples}</div>\n`;
    })
    .replace('name="language"', '$& checked');
}

/** A sample and those after it that belong to its group. */
const sampleGroup = new RegExp(
  `(?=<div class="sample">)${Object.keys(languages)
    .map(
      (name) => `(?:<div class="sample"><pre[^>]*><code class="language-${name}">[^]*?</div>\n)?`,
    )
    .join('')}`,
  'g',
);

/** A name in code, such as an error's or an operation's, is its own anchor. */
function toAnchor(heading: string): string {
  const [, name] = /^`(\w+)`$/.exec(heading) ?? [];
  if (name !== undefined) return name;
  return heading
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
}

/** The part of a page before its first `h2`, without anchor and heading, and those below each, in plain text. */
export function splitSections(html: string) {
  const parts = ['', '', ...html.split(/<h2 id="([^"]+)">(.*?)<\/h2>/)];
  return Array.from({ length: parts.length / 3 }, (_, index) => {
    const [anchor = '', heading = '', text = ''] = parts.slice(3 * index, 3 * index + 3);
    return { anchor, heading: extractText(heading), text: extractText(text) };
  });
}

const entities: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&amp;': '&',
};

/** The plain text of HTML by `renderMarkdown`. */
export function extractText(html: string): string {
  const text = html.replaceAll(/<\/(?:td|th|li|p|h\d|label)>/g, ' ').replaceAll(/<[^>]*>/g, '');
  return decodeHtml(text).replaceAll(/\s+/g, ' ').trim();
}

export function decodeHtml(text: string): string {
  return text.replaceAll(/&(?:lt|gt|quot|#39|amp);/g, (entity) => entities[entity] ?? entity);
}

/** Escapes plain text for HTML. */
export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
