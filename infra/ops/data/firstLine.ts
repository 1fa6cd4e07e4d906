/** What a file is that begins with these bytes, if it is no text in UTF-8. */
const signatures: readonly (readonly [begin: readonly number[], found: string])[] = [
  [[0x50, 0x4b, 0x03, 0x04], 'an Excel workbook or another ZIP file; save the sheet as CSV UTF-8'],
  [[0xd0, 0xcf, 0x11, 0xe0], 'an old Excel workbook; save the sheet as CSV UTF-8'],
  [[0x1f, 0x8b], 'compressed by gzip; decompress it first, by gunzip'],
  [[0xff, 0xfe], 'text in UTF-16; save it as UTF-8'],
  [[0xfe, 0xff], 'text in UTF-16; save it as UTF-8'],
];

/** What a file is by its first bytes, if no command can read it. */
export function toForeignFormat(bytes: Uint8Array): string | undefined {
  const known = signatures.find(([begin]) => begin.every((byte, index) => bytes[index] === byte));
  if (known) return known[1];
  // Each ASCII character of UTF-16 has a zero byte.
  return bytes.subarray(0, 100).includes(0) ? signatures.at(-1)?.[1] : undefined;
}

/** What the first line of a CSV file is in place of its header. */
export function toWrongHeader(line: string, columns: readonly string[]): string {
  const fields = line.replaceAll('"', '').split(',');
  const spread = [
    [';', 'semicolons'],
    ['\t', 'tabs'],
  ].find(([sign]) => line.includes(sign as string));
  if (line.trim() === '') return 'It is empty.';
  if (spread) return `Its columns are separated by ${spread[1]}: save the file with commas.`;
  if (/^\s*[[{]/.test(line)) return 'It is JSON: save the file as CSV.';
  if (fields.length === 1) return `It has one column: ${quote(line)}.`;
  if (/^-?\d/.test(fields[0] ?? '')) return `The header is missing: it is ${quote(line)}.`;
  const missing = columns.filter((name) => !fields.includes(name));
  const surplus = fields.filter((name) => !columns.includes(name)).map(quote);
  if (missing.length > 0) return `It lacks ${missing.join(' and ')}: it is ${quote(line)}.`;
  if (surplus.length > 0) return `It also has ${surplus.join(', ')}: remove what is not ours.`;
  return `The columns are in another order: it is ${quote(line)}.`;
}

function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}...` : text);
}
