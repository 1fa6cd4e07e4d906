import { readFileSync } from 'node:fs';
import { UsageError } from '../../cli/usage.ts';
import { parseRequests, parseTraffic, usualEntries } from '../traffic/parseTraffic.ts';
import type { Traffic } from '../traffic/traffic.ts';
import { readCommittedTraffic } from './committedTraffic.ts';

/** The traffic that a command reckons with, as typed. */
export interface TrafficOptions {
  readonly requests?: string | undefined;
  readonly traffic?: string | undefined;
  readonly entries?: string | undefined;
}

/** The committed one where none is given. @throws {UsageError} when what was typed makes no sense */
export function readTraffic({ requests, traffic: file, entries }: TrafficOptions): Traffic {
  if (requests !== undefined && file !== undefined) {
    throw new UsageError('Give --requests or --traffic, not both.');
  }
  const traffic = requests === undefined ? readFile(file) : toTraffic(requests);
  return entries === undefined ? traffic : { ...traffic, entries: parseEntries(entries) };
}

function toTraffic(requests: string): Traffic {
  return { entries: usualEntries, shares: parseRequests(requests) };
}

function readFile(file: string | undefined): Traffic {
  if (file === undefined) return readCommittedTraffic();
  try {
    return parseTraffic(readFileSync(file, 'utf8'));
  } catch (error) {
    if (error instanceof UsageError) throw error;
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
