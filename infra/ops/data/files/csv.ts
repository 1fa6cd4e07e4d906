import { parseInt64 } from '../../../../shared/contract/values.ts';

const quotedOrPlain = /("(?:[^"]|"")*"|[^",]*)(,|$)/y;

/**
 * The fields of one line of CSV (RFC 4180); a quoted field cannot go on in the next line.
 * Returns `undefined` when the quotes do not match.
 */
export function parseCsvLine(line: string): string[] | undefined {
  if (!line.includes('"')) return line.split(',');
  const fields: string[] = [];
  quotedOrPlain.lastIndex = 0;
  for (;;) {
    const [, field, separator] = quotedOrPlain.exec(line) ?? [];
    if (field === undefined) return undefined;
    fields.push(field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field);
    if (separator === '') return fields;
  }
}

/** No field of ours has a comma, a quote or a line end in it. */
export function toCsvLine(fields: readonly unknown[]): string {
  return fields.join(',');
}

/** Text that spells an integer becomes one, as if it stood in JSON; any other text stays what it is. */
export function toCsvValue(field: string): string | number | bigint {
  const value = parseInt64(field);
  if (value === undefined) return field;
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}
