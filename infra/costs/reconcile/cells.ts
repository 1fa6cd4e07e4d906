/** What AWS puts before the names of tags that users give. */
const userPrefix = /^user[:_]/;

/** What a cell of an export holds: text in CSV, and values of several types in Parquet. */
export function toText(cell: unknown): string {
  return cell === undefined || cell === null ? '' : String(cell);
}

/** Nothing is 0, as the quantity of a tax is. @throws {Error} that names the column */
export function toNumber(cell: unknown, name: string | undefined): number {
  const number = Number(toText(cell));
  if (Number.isFinite(number)) return number;
  throw new Error(`${name} is no number: ${JSON.stringify(cell)}`);
}

/** Times have no zone in some exports, and are of UTC. @throws {Error} that names the column */
export function toTime(cell: unknown, name: string | undefined): number {
  if (cell instanceof Date) return cell.getTime();
  const text = toText(cell).trim().replace(' ', 'T');
  const time = Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);
  if (Number.isFinite(time)) return time;
  throw new Error(`${name} is no time: ${JSON.stringify(cell)}`);
}

/** By their names, without what AWS puts before those that users give. */
export function toTags(cell: unknown): Record<string, string> {
  const tags = typeof cell === 'string' && cell !== '' ? JSON.parse(cell) : cell;
  if (typeof tags !== 'object' || tags === null) return {};
  return Object.fromEntries(
    Object.entries(tags).map(([name, value]) => [
      String(name).toLowerCase().replace(userPrefix, ''),
      toText(value),
    ]),
  );
}
