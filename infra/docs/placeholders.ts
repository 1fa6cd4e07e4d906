/**
 * What stands in a guide for something that the code says: `{{name}}`, or `{{name argument}}`. The text
 * is `undefined` when there is none for the argument.
 */
export type Placeholders = Readonly<Record<string, (argument: string) => string | undefined>>;

/** @throws {Error} that names the first placeholder without a text */
export function fillPlaceholders(markdown: string, placeholders: Placeholders): string {
  return markdown.replaceAll(/\{\{(.*?)\}\}/g, (placeholder, content: string) => {
    const [name = '', argument = ''] = content.split(' ');
    const text = Object.hasOwn(placeholders, name) ? placeholders[name]?.(argument) : undefined;
    if (text === undefined) throw new Error(`There is no text for ${placeholder}.`);
    return text;
  });
}
