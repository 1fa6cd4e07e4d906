import { parseInstant, toSecond } from '../../cli/instant.ts';
import { stageUsage } from '../../cli/stageOption.ts';
import { UsageError } from '../../cli/usage.ts';
import { type TableName, tableNames } from '../../stages/tables.ts';

export const restoreHelp = `npm run restore -- ${stageUsage} --table TABLE… --at TIME [--from NAME]

Restores tables of a stage, as they were at a second of the last 35 days, into new tables beside them:
checks the time, restores, waits for as long as it takes, protects the new tables as the first ones, and
prints the line for infra/stages/stages.ts that puts them to use. Until that is deployed, nothing changes
for clients. After an interruption, the same command goes on where it was.

  --table ${tableNames.join('|')}
                                  may be given several times; with inventory, give requests too
  --at 2026-12-24T09:59:00Z       the time, with its zone; or latest, some five minutes ago
  --from NAME                     the table to restore from, in place of the one in use
`;

export const restoreFlags = {
  stage: { type: 'string' },
  table: { type: 'string', multiple: true },
  at: { type: 'string' },
  from: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** @throws {UsageError} when none is named, or one that there is not */
export function parseTables(words: readonly string[] = []): TableName[] {
  const tables = tableNames.filter((name) => words.includes(name));
  const unknown = words.find((word) => !tableNames.some((name) => name === word));
  if (tables.length > 0 && unknown === undefined) return tables;
  throw new UsageError(
    `--table must be one or more of ${tableNames.join(', ')}; it is ${unknown === undefined ? 'missing' : `"${unknown}"`}.`,
  );
}

/**
 * A second in the past, or `latest`.
 * @throws {UsageError} on anything else
 */
export function parseTime(text: string | undefined, now: number = Date.now()): Date | 'latest' {
  if (text === 'latest') return text;
  const time = text === undefined || text.includes('.') ? undefined : parseInstant(text);
  if (time === undefined) {
    throw new UsageError(
      `--at must be a second with its zone, such as 2026-12-24T09:59:00Z or 2026-12-24T10:59:00+01:00, or latest; it is ${text === undefined ? 'missing' : `"${text}"`}.`,
    );
  }
  if (time.getTime() > now) throw new UsageError(`--at lies ahead: ${toSecond(time)}.`);
  return time;
}
