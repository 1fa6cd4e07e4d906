import { createOnigurumaEngine } from '@shikijs/engine-oniguruma';
import http from '@shikijs/langs/http';
import json from '@shikijs/langs/json';
import python from '@shikijs/langs/python';
import shell from '@shikijs/langs/shellscript';
import typescript from '@shikijs/langs/typescript';
import { codeToTokensBase, createShikiPrimitive } from '@shikijs/primitive';
import { Marked, Renderer } from 'marked';

/** Languages and their names. Adjacent blocks in this order are a group. */
const languages: Readonly<Record<string, string>> = {
  sh: 'curl',
  ts: 'TypeScript',
  python: 'Python',
};

/** The kinds of tokens that `style.css` colours, with their TextMate scopes. */
const kinds = {
  comment: ['comment'],
  value: ['string', 'storage.type.string', 'constant', 'storage.type.numeric'],
  keyword: ['keyword', 'storage'],
  name: ['entity.name', 'support.function', 'support.type.property-name'],
};

/** A token gets its kind instead of a colour: inline styles would need a weaker policy. */
const settings = Object.entries(kinds).map(([foreground, scope]) => ({
  scope,
  settings: { foreground },
}));

const shiki = createShikiPrimitive({
  langs: [http, json, python, shell, typescript].flat(),
  langAlias: { js: 'typescript' },
  themes: [{ name: 'kinds', settings }],
  engine: await createOnigurumaEngine(import('@shikijs/engine-oniguruma/wasm-inlined')),
});

const marked = new Marked({
  renderer: {
    heading({ tokens, depth, text }) {
      return `<h${depth} id="${toAnchor(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
    code({ text, lang = 'text' }) {
      return `<div class="sample"><pre><code class="language-${lang}">${renderCode(text, lang)}\n</code></pre></div>\n`;
    },
    // It scrolls by itself, so it is focusable: the keyboard can scroll it.
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
        /<div class="sample">(?=<pre><code class="language-(\w+)")/g,
        (_, name: string) => `<div class="sample ${name}" data-language="${languages[name]}">`,
      );
      return `<div class="samples" role="group" aria-label="Language">\n${labels.join('')}${samples}</div>\n`;
    })
    .replace('name="language"', '$& checked');
}

/** @throws {Error} when the language is unknown */
function renderCode(code: string, lang: string): string {
  // By default, a line that takes half a second stays without colours.
  const options = { lang, theme: 'kinds', tokenizeTimeLimit: 0 };
  const lines = codeToTokensBase(shiki, code, options).map((tokens) =>
    tokens.map(({ content, color = '' }) => {
      const text = escapeHtml(content);
      return Object.hasOwn(kinds, color) ? `<span class="${color}">${text}</span>` : text;
    }),
  );
  return lines.map((line) => line.join('')).join('\n');
}

/** A sample and those after it that belong to its group. */
const sampleGroup = new RegExp(
  `(?=<div class="sample">)${Object.keys(languages)
    .map((name) => `(?:<div class="sample"><pre><code class="language-${name}">[^]*?</div>\n)?`)
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

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
