import { extractText, renderMarkdown, splitSections } from './markdown.ts';

export type Guide = ReturnType<typeof buildGuide>;

/** The menu. The first guide is the site's home page. The reference is no guide. */
export const menu = {
  'First steps': ['index', 'client', 'generated-clients', 'numbers'],
  Selling: ['selling', 'updates'],
  Reading: ['lists'],
  'When things fail': ['errors', 'retries'],
  Reference: ['reference', 'deprecations'],
} as const;

export const guideNames = Object.values(menu)
  .flat()
  .filter((name) => name !== 'reference');

export function renderGuide(name: string, markdown: string): Guide {
  const [, title = name] = /^# (.+)$/m.exec(markdown) ?? [];
  return buildGuide(name, title, renderMarkdown(markdown.replace(/^# .+$/m, '')));
}

/**
 * @param name that of its page, without `.html`
 * @param title its first heading, in plain text
 * @param html the text below that
 */
export function buildGuide(name: string, title: string, html: string) {
  const [, paragraph = ''] = /<p>(.*?)<\/p>/s.exec(html) ?? [];
  return { name, title, description: extractText(paragraph), html, sections: splitSections(html) };
}

/**
 * Texts from the code that guides insert with `{{name}}` or `{{name argument}}`. `undefined` means that there is no
 * text for the argument.
 */
export type Placeholders = Readonly<Record<string, (argument: string) => string | undefined>>;

/** @throws {Error} that names the first unknown placeholder */
export function fillPlaceholders(markdown: string, placeholders: Placeholders): string {
  return markdown.replaceAll(/\{\{(.*?)\}\}/g, (placeholder, content: string) => {
    const [name = '', argument = ''] = content.split(' ');
    const text = Object.hasOwn(placeholders, name) ? placeholders[name]?.(argument) : undefined;
    if (text === undefined) throw new Error(`There is no text for ${placeholder}.`);
    return text;
  });
}

export function renderTable(
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const lines = [head, head.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
