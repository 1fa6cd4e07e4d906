/** A line of CSV (RFC 4180); what a reader of lines would take apart is quoted. */
export function toCsvLine(fields: readonly (string | number | undefined)[]): string {
  return `${fields.map((field) => toField(toText(field ?? ''))).join(',')}\n`;
}

/** To a millionth of a millionth, since some readers take no exponents. */
function toText(field: string | number): string {
  if (typeof field === 'string') return field;
  return Number.isInteger(field) ? String(field) : field.toFixed(12).replace(/\.?0+$/, '');
}

function toField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
