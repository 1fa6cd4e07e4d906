import type { ParseArgsConfig } from 'node:util';
import { UsageError } from '../../cli/usage.ts';
import { type DataTableOptions, dataTableFlags, dataTableHelp } from './dataTableOption.ts';
import type { FileOptions } from './files/dataSource.ts';

export const importHelp = `npm run import -- [--inventory FILE] [--pets FILE] [--orders FILE] [options]

Loads data files into a stage's tables. Every row is checked before the first is written. What a table
has already is kept, so the same command can be run again after an interruption.

Files:
  --inventory FILE.csv|.jsonl     CSV starts with the line petId,quantity,status
  --pets FILE.jsonl               JSON Lines: one JSON object a line, as the service answers it
  --orders FILE.jsonl
  each may be gzip (.csv.gz, .jsonl.gz); - is standard input, with CSV of the inventory, else JSON Lines

${dataTableHelp}
Options:
  --dry-run                       check files and tables, and write nothing to the tables
  --rejects FILE                  write the rows that are not valid to this file, to be corrected there and
                                  imported; only with one of the files above
  --skip-invalid                  load the rows that are valid, in place of none; the status is 3 when
                                  some were left out
  --overwrite                     replace what is there; asks first on a stage
  --yes                           do not ask
  --max-wcu N                     use at most N write request units a second
  --give-up-after 60s             how long to go on when a table throttles or cannot be reached
`;

export const importFlags = {
  ...dataTableFlags,
  inventory: { type: 'string' },
  pets: { type: 'string' },
  orders: { type: 'string' },
  'dry-run': { type: 'boolean' },
  rejects: { type: 'string' },
  'skip-invalid': { type: 'boolean' },
  overwrite: { type: 'boolean' },
  yes: { type: 'boolean' },
  'max-wcu': { type: 'string' },
  'give-up-after': { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies ParseArgsConfig['options'];

/** What was typed. */
export interface ImportOptions extends DataTableOptions, FileOptions {
  readonly 'dry-run'?: boolean;
  readonly rejects?: string;
  readonly 'skip-invalid'?: boolean;
  readonly overwrite?: boolean;
  readonly yes?: boolean;
  readonly 'max-wcu'?: string;
  readonly 'give-up-after'?: string;
}

/** Write request units a second. @throws {UsageError} */
export function parseMaxWcu(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new UsageError(`--max-wcu must be a whole number from 1 to 9999999; it is "${text}".`);
}
