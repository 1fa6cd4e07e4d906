/** Rows for people: each on a line, columns as wide as they need be. */
export function toColumns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** To the minute, such as `2026-12-24 09:59Z`; a dash where there is none. */
export function toShortTime(time: string | undefined): string {
  return time ? `${time.slice(0, 16).replace('T', ' ')}Z` : '-';
}
