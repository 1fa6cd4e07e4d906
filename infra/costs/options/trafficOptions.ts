import { readFileSync } from 'node:fs';
import { UsageError } from '../../cli/usage.ts';
import { readCommittedTraffic } from '../change/committedTraffic.ts';
import { toAnswerable } from '../model/monthlyBill.ts';
import { parseRequests, parseTraffic, usualEntries } from '../traffic/parseTraffic.ts';
import type { Traffic } from '../traffic/traffic.ts';

/** The traffic that a command reckons with, as typed. */
export interface TrafficOptions {
  readonly requests?: string | undefined;
  readonly traffic?: string | undefined;
  /** In place of the traffic's own. */
  readonly entries?: string | undefined;
}

/** The committed one where none is given. @throws {UsageError} when what was typed makes no sense */
export function readTraffic({ requests, traffic: file, entries }: TrafficOptions): Traffic {
  if (requests !== undefined && file !== undefined) {
    throw new UsageError('Give --requests or --traffic, not both.');
  }
  const size = entries === undefined ? {} : { entries: parseEntries(entries) };
  if (requests !== undefined) {
    return { entries: usualEntries, shares: parseRequests(requests), ...size };
  }
  if (file !== undefined) return { ...parseTraffic(readTrafficFile(file)), ...size };
  return toAnswerable({ ...readCommittedTraffic(), ...size });
}

function readTrafficFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`--traffic cannot be read: ${(error as Error).message}.`);
  }
}

const MOST_ENTRIES = 1e9;

/** A length of the inventory. @throws {UsageError} */
export function parseEntries(text: string): number {
  const entries = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (entries <= MOST_ENTRIES) return entries;
  throw new UsageError(
    `--entries must be a whole number from 0 to ${MOST_ENTRIES}; it is "${text}".`,
  );
}
