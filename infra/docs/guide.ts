import { readFile } from 'node:fs/promises';
import { renderMarkdown, type Section, toSections, toText } from './markdown.ts';

/** A guide, ready for its page. */
export interface Guide {
  /** The name of its page, without `.html`. */
  readonly name: string;
  /** Its first heading, in plain text. */
  readonly title: string;
  /** Its first paragraph, in plain text. */
  readonly description: string;
  /** The text below its first heading. */
  readonly html: string;
  readonly sections: readonly Section[];
}

/** In the order of the menu. The first is the site's home page. */
export const guideNames = [
  'index',
  'errors',
  'retries',
  'limits',
  'updates',
  'selling',
  'lists',
  'numbers',
  'generated-clients',
  'costs',
  'changes',
  'deprecations',
] as const;

const folder = new URL('guides/', import.meta.url);

/** @throws {Error} when a placeholder is unknown */
export async function readGuide(name: string, facts: Placeholders): Promise<Guide> {
  const markdown = await readFile(new URL(`${name}.md`, folder), 'utf8');
  return renderGuide(name, fillPlaceholders(markdown, facts));
}

export function renderGuide(name: string, markdown: string): Guide {
  const [, title = name] = /^# (.+)$/m.exec(markdown) ?? [];
  return toGuide(name, title, renderMarkdown(markdown.replace(/^# .+$/m, '')));
}

export function toGuide(name: string, title: string, html: string): Guide {
  const [, paragraph = ''] = /<p>(.*?)<\/p>/s.exec(html) ?? [];
  return { name, title, description: toText(paragraph), html, sections: toSections(html) };
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

/** A table in Markdown. */
export function toTable(
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const lines = [head, head.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
