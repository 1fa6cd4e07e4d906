import { parseStage, stageUsage } from '../../cli/stageOption.ts';
import type { Stage } from '../../stages/stages.ts';
import { type DayRange, parseDayRange } from './dayRange.ts';

/** What `npm run costs -- --help` says of it. */
export const byKeyHelp = `npm run costs -- --by-key ${stageUsage} --from DAY --to DAY [--json] [--yes]

Asks the logs what each API key's requests have cost, by operation and by month, at list prices and
without free allowances. Requests and request units are those of each key's own lines. A function's
billed time is divided by its requests' milliseconds; its calls, traces and log lines by their number.
The gateway's log knows no key: its requests and the bytes that it sent are divided, operation by
operation and status by status, among the requests with that answer. What has no key is listed too.

  --by-key             by name of the key
  --from, --to DAY     the first and the last day, of UTC, such as 2026-11-01
  --json               one document
  --yes                do not ask before queries that cost more than $1
`;

/** What `node:util` reads its options by. */
export const byKeyFlags = {
  'by-key': { type: 'boolean' },
  stage: { type: 'string' },
  from: { type: 'string' },
  to: { type: 'string' },
  json: { type: 'boolean' },
  yes: { type: 'boolean' },
} as const;

/** As typed. */
export interface ByKeyOptions {
  readonly stage?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly json?: boolean | undefined;
  readonly yes?: boolean | undefined;
}

/** What is asked for. */
export interface ByKeySearch {
  readonly stage: Stage;
  readonly days: DayRange;
  readonly json: boolean;
  readonly yes: boolean;
}

/** @throws {UsageError} when what was typed makes no sense */
export function parseByKey(options: ByKeyOptions): ByKeySearch {
  return {
    stage: parseStage(options.stage),
    days: parseDayRange(options),
    json: options.json ?? false,
    yes: options.yes ?? false,
  };
}
