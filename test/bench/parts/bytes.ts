import {
  toCompactItem,
  toFullItem,
  toLookupUnits,
  toOrdersUnits,
  toPetUnits,
  toRequestUnits,
  toScanUnits,
  toUpdateUnits,
} from '../canned/requestUnits.ts';
import type { PartInput } from '../functionHost.ts';
import type { Cell, Section } from '../report.ts';

/** What DynamoDB bills for each operation. Exact figures, not measurements. */
export async function measureBytes({ quick }: PartInput): Promise<readonly Section[]> {
  const lengths = [1_000, 10_000, 100_000, ...(quick ? [] : [1_000_000])];
  const toRow = (name: string, ours: number, full: number): Cell[] => [
    name,
    ours,
    full,
    ours / full,
  ];
  const scans = lengths.map((entries) => ({
    entries,
    ours: toScanUnits(entries, toCompactItem),
    full: toScanUnits(entries, toFullItem),
  }));
  const section: Section = {
    title: 'Request units: what DynamoDB bills, with an API key that is remembered',
    columns: [
      { name: 'operation' },
      { name: 'ours', digits: 1 },
      { name: 'full names', digits: 1 },
      { name: 'ours ÷ full', digits: 2 },
    ],
    rows: [
      ...scans.map(({ entries, ours, full }) =>
        toRow(`listInventory, ${entries.toLocaleString('en-US')} entries (read)`, ours, full),
      ),
      toRow(
        'updateInventory (write)',
        toUpdateUnits(toCompactItem, 'v'),
        toUpdateUnits(toFullItem, 'version'),
      ),
      toRow(
        'updateInventory with Idempotency-Key (write)',
        2 * toUpdateUnits(toCompactItem, 'v') + toRequestUnits(),
        2 * toUpdateUnits(toFullItem, 'version') + toRequestUnits(),
      ),
      ...[1, 10].map((entries) =>
        toRow(
          `listInventory, ${entries} by petId (read)`,
          toLookupUnits(entries, toCompactItem),
          toLookupUnits(entries, toFullItem),
        ),
      ),
      toRow('getPet (read)', toPetUnits(), toPetUnits()),
      toRow('listOrders, 20 orders (read)', toOrdersUnits(), toOrdersUnits()),
    ],
    goals: scans.map(({ entries, ours, full }) => ({
      name: `the request units of ${entries.toLocaleString('en-US')} entries ÷ full names`,
      value: ours / full,
      atMost: 0.6,
    })),
    notes: ["Computed from the records' sizes by DynamoDB's rules, eventually consistent reads."],
  };
  return [section];
}
