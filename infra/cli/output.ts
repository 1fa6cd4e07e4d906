/**
 * Waits until the text is on standard output.
 * @throws when it cannot be written
 */
export function writeOut(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(escapeControls(text), (error) => (error ? reject(error) : resolve()));
  });
}

/** Writes JSON for a machine with `--json`, else the text. */
export function writeResult(
  { json }: { readonly json?: boolean | undefined },
  document: unknown,
  text: string,
): Promise<void> {
  return writeOut(`${json ? JSON.stringify(document, null, 2) : text}\n`);
}

/**
 * Prints links of our own making, a line each. On a terminal that is their names, which open them
 * (https://github.com/Alhadis/OSC8-Adoption); elsewhere the addresses stand beside.
 */
export function printLinks(links: readonly { readonly name: string; readonly link: string }[]) {
  const toLine = ({ name, link }: (typeof links)[number]) =>
    process.stdout.isTTY
      ? `\u001b]8;;${link}\u001b\\${name}\u001b]8;;\u001b\\`
      : `${name}: ${link}`;
  process.stdout.write(links.map((one) => `  ${toLine(one)}\n`).join(''));
}

export function print(line: string): void {
  process.stdout.write(`${escapeControls(line)}\n`);
}

/** Prints a line on standard error. */
export function log(line: string): void {
  process.stderr.write(`${escapeControls(line)}\n`);
}

/**
 * Replaces control and format characters by JSON's escapes, so that JSON stays the same. Such characters in a key's
 * name, a log or a message could move the cursor, or show the line in another order. Tabs and line ends stay.
 */
export function escapeControls(text: string): string {
  return text.replace(/(?![\t\n])[\p{Cc}\p{Cf}]/gu, toEscape);
}

/** One line, for text that holds what others wrote. */
export function toPlain(text: string): string {
  return escapeControls(text.replace(/\s*\n\s*/g, ' ').replaceAll('\t', toEscape)).trimEnd();
}

function toEscape(character: string): string {
  // One escape for each UTF-16 unit.
  const units = character.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'));
  return units.map((unit) => `\\u${unit}`).join('');
}

/** A line for each row, with aligned columns. */
export function toColumns(rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map(toPlain));
  const widths = (cells[0] ?? []).map((_, column) =>
    Math.max(...cells.map((row) => row[column]?.length ?? 0)),
  );
  return cells
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Such as `1,000`, or `1 row` and `1,000 rows`. */
export function toCount(count: number, noun?: string): string {
  const whole = Math.round(count);
  const digits = whole.toLocaleString('en');
  return noun === undefined ? digits : `${digits} ${noun}${whole === 1 ? '' : 's'}`;
}

/** To the minute, such as `2026-12-24 09:59Z`; a dash without a time. */
export function toShortTime(time: string | undefined): string {
  return time ? `${time.slice(0, 16).replace('T', ' ')}Z` : '-';
}
