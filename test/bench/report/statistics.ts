/** What many measurements of one thing come to. */
export interface Summary {
  readonly median: number;
  /** Half of the measurements lie between these two. */
  readonly lower: number;
  readonly upper: number;
  readonly count: number;
}

export function summarize(samples: readonly number[]): Summary {
  if (samples.length === 0) throw new Error('There is nothing to summarize.');
  const sorted = samples.toSorted((one, other) => one - other);
  return {
    median: toQuantile(sorted, 0.5),
    lower: toQuantile(sorted, 0.25),
    upper: toQuantile(sorted, 0.75),
    count: sorted.length,
  };
}

/** How far the median is likely to be off: its standard error, were the measurements distributed normally. */
export function toMedianError({ lower, upper, count }: Summary): number {
  return (0.93 * (upper - lower)) / Math.sqrt(count);
}

function toQuantile(sorted: readonly number[], share: number): number {
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)] ?? 0;
  const above = sorted[Math.ceil(place)] ?? 0;
  return below + (above - below) * (place - Math.floor(place));
}
