import { gzipSync } from 'node:zlib';
import { engines } from '../../support/engines.ts';
import { toCannedEntry, toListedJson } from '../canned/cannedEntries.ts';
import { toEvent } from '../process/events.ts';
import { startFunctionHost } from '../process/functionHost.ts';
import type { RunResult } from '../process/functionProcess.ts';
import type { Cell, Section } from '../report/section.ts';
import { scanOnEngine } from './engineUnits.ts';
import type { PartInput } from './part.ts';
import {
  toCompactItem,
  toFullItem,
  toLookupUnits,
  toOrdersUnits,
  toPetUnits,
  toRequestUnits,
  toScanUnits,
  toUpdateUnits,
} from './requestUnits.ts';

/** What each operation is billed by: request units, and bytes sent. Exact figures, not measurements. */
export async function measureBytes(input: PartInput): Promise<readonly Section[]> {
  const lengths = [1_000, 10_000, 100_000, ...(input.quick ? [] : [1_000_000])];
  return [await toUnitsSection(input, lengths), await toTransferSection(input, lengths)];
}

async function toUnitsSection({ quick, report }: PartInput, lengths: number[]): Promise<Section> {
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
  const counted = await countOnEngines(quick ? 2_000 : 20_000, report);
  return {
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
    notes: [
      "Computed from the records' sizes by DynamoDB's rules, eventually consistent reads.",
      ...counted,
    ],
  };
}

/** What the emulators count, beside what the rules say. */
async function countOnEngines(entries: number, report: PartInput['report']): Promise<string[]> {
  const notes: string[] = [];
  for (const { name, start } of engines) {
    report(`bytes: ${entries} entries on ${name}`);
    const engine = await start();
    const ours = await scanOnEngine(engine, entries, toCompactItem);
    const full = await scanOnEngine(engine, entries, toFullItem);
    await engine.close();
    const computed = [toCompactItem, toFullItem].map((toItem) => toScanUnits(entries, toItem));
    const counts = `${name} counts ${ours} and ${full} units for ${entries.toLocaleString('en-US')} entries`;
    notes.push(`${counts}; computed: ${computed.join(' and ')}.`);
  }
  return notes;
}

async function toTransferSection(input: PartInput, lengths: number[]): Promise<Section> {
  const host = await startFunctionHost(input);
  const child = await host.startFunction(input.bundles.ours.listInventory, 'transfer');
  const list = (headers: Record<string, string>) =>
    child.ask<RunResult>({ event: toEvent('listInventory', host.apiKey, headers), times: 1 });
  const rows: Cell[][] = [];
  try {
    for (const entries of lengths) {
      input.report(`bytes: the transfer of ${entries} entries`);
      await host.setEntries(entries);
      const plain = await list({});
      const asked = await list({ 'Accept-Encoding': 'gzip' });
      const compresses = asked.encoding === 'gzip';
      const gzip = compresses ? asked.bytes : toGzipSize(entries);
      const by = compresses ? 'the function' : 'node:zlib, for comparison: the function does not';
      rows.push([entries, plain.bytes, gzip, gzip / plain.bytes, by]);
    }
  } finally {
    await child.end();
    await host.end();
  }
  return {
    title: 'Transfer: the bytes of a whole list',
    columns: [
      { name: 'entries' },
      { name: 'plain' },
      { name: 'gzip' },
      { name: 'gzip ÷ plain', digits: 2 },
      { name: 'compressed by' },
    ],
    rows,
    goals: [],
    notes: ['The ids are spread over all of int64, which compresses worse than ids in sequence.'],
  };
}

function toGzipSize(entries: number): number {
  const items = Array.from({ length: entries }, (_, index) => toListedJson(toCannedEntry(index)));
  return gzipSync(`[${items.join(',')}]`).length;
}
