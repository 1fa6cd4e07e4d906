import { toCompactItem, toFullItem, toScanUnits } from '../canned/requestUnits.ts';
import type { PartInput } from '../functionHost.ts';
import type { Section } from '../report.ts';

/** What DynamoDB bills for a list, against a table with full attribute names. Exact figures, not measurements. */
export async function measureBytes({ quick }: PartInput): Promise<readonly Section[]> {
  const lengths = [1_000, 10_000, 100_000, ...(quick ? [] : [1_000_000])];
  const scans = lengths.map((entries) => {
    const [ours, full] = [toScanUnits(entries, toCompactItem), toScanUnits(entries, toFullItem)];
    return { entries: entries.toLocaleString('en-US'), ours, full, ratio: ours / full };
  });
  const section: Section = {
    title: 'Read units: what DynamoDB bills for a list',
    columns: [
      { name: 'entries' },
      { name: 'ours', digits: 1 },
      { name: 'full names', digits: 1 },
      { name: 'ours ÷ full', digits: 2 },
    ],
    rows: scans.map(({ entries, ours, full, ratio }) => [entries, ours, full, ratio]),
    goals: scans.map(({ entries, ratio }) => ({
      name: `the read units of ${entries} entries ÷ full names`,
      value: ratio,
      atMost: 0.6,
    })),
    notes: ["Computed from the records' sizes by DynamoDB's rules, eventually consistent reads."],
  };
  return [section];
}
