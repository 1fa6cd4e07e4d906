import { parseArgs } from 'node:util';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { listenForInterruption } from '../../cli/interruption.ts';
import { print, tell } from '../../cli/output.ts';
import { parseStage, stageUsage, toRegion } from '../../cli/stageOption.ts';
import { readOutput, readStack } from '../../cli/stageStack.ts';
import { parseInstant, toSecond } from '../../cli/time.ts';
import { UsageError } from '../../cli/usage.ts';
import { toTableName, toTableOutput } from '../../stages/resourceNames.ts';
import { type Stage, stagesFile } from '../../stages/stages.ts';
import { type TableName, tableNames } from '../../stages/tables.ts';
import { finishRestore, readLatest, startRestores, type TableRestore } from './restores.ts';

const help = `npm run restore -- ${stageUsage} --table TABLE… --at TIME [--from NAME]

Restores tables of a stage, as they were at a second of the last 35 days, into new tables beside them:
checks the time, restores, waits for as long as it takes, protects the new tables as the first ones, and
prints the line for infra/stages/stages.ts that puts them to use. Until that is deployed, nothing changes
for clients. After an interruption, the same command goes on where it was.

  --table ${tableNames.join('|')}
                                  may be given several times; with inventory, give requests too
  --at 2026-12-24T09:59:00Z       the time, with its zone; or latest, some five minutes ago
  --from NAME                     the table to restore from, in place of the one in use`;

const flags = {
  stage: { type: 'string' },
  table: { type: 'string', multiple: true },
  at: { type: 'string' },
  from: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Restores tables of a stage. */
export async function runRestore(args: string[], pollMilliseconds = 10_000): Promise<void> {
  const { values } = parseArgs({ args, options: flags });
  if (values.help) return print(help);
  const stage = parseStage(values.stage);
  const names = parseTables(values.table);
  const at = parseTime(values.at);
  if (values.from !== undefined && names.length > 1) {
    throw new UsageError('--from goes with one --table only.');
  }
  const client = new DynamoDBClient(toRegion(stage));
  // The tables in use are known to the stack, and may be restored ones themselves.
  const stack = values.from === undefined ? await readStack(stage) : undefined;
  const sources = names.map((name) => ({
    name,
    source: stack ? readOutput(stack, toTableOutput(name)) : (values.from ?? ''),
  }));
  const time =
    at === 'latest'
      ? await readLatest(
          client,
          sources.map(({ source }) => source),
        )
      : at;
  const restores = sources.map(({ name, source }) => {
    const target = `${toTableName(stage, name)}-${toSecond(time).replace(/[-:]/g, '')}`;
    return { name, source, target, time };
  });

  await startRestores(client, restores);
  using interruption = listenForInterruption();
  const { signal, status } = interruption;
  try {
    for (const restore of restores) {
      await finishRestore(client, restore, pollMilliseconds, signal);
    }
  } catch (error) {
    const from = values.from === undefined ? '' : ` --from ${values.from}`;
    const again = `npm run restore -- --stage ${stage.name} ${names.map((name) => `--table ${name}`).join(' ')} --at ${toSecond(time)}${from}`;
    tell(
      `${signal.aborted ? 'Interrupted' : 'Stopped'}; the restore goes on. Follow it with:\n  ${again}`,
    );
    if (!signal.aborted) throw error;
    process.exitCode = status();
    return;
  }
  print(toNextSteps(stage, restores, time));
}

function parseTables(words: readonly string[] = []): TableName[] {
  const tables = tableNames.filter((name) => words.includes(name));
  const unknown = words.find((word) => !tableNames.some((name) => name === word));
  if (tables.length > 0 && unknown === undefined) return tables;
  throw new UsageError(
    `--table must be one or more of ${tableNames.join(', ')}; it is ${unknown === undefined ? 'missing' : `"${unknown}"`}.`,
  );
}

function parseTime(text: string | undefined): Date | 'latest' {
  if (text === 'latest') return text;
  const time = text === undefined || text.includes('.') ? undefined : parseInstant(text);
  if (time === undefined) {
    throw new UsageError(
      `--at must be a second with its zone, such as 2026-12-24T09:59:00Z or 2026-12-24T10:59:00+01:00, or latest; it is ${text === undefined ? 'missing' : `"${text}"`}.`,
    );
  }
  if (time.getTime() > Date.now()) throw new UsageError(`--at lies ahead: ${toSecond(time)}.`);
  return time;
}

/** What is left to a person: to look, to write one line, and to deploy. */
export function toNextSteps(
  { name: stage, settings }: Stage,
  restores: readonly TableRestore[],
  time: Date,
): string {
  const restored = Object.fromEntries(restores.map(({ name, target }) => [name, target]));
  const line = Object.entries({ ...settings.restoredTables, ...restored })
    .map(([name, target]) => `${name}: '${target}'`)
    .join(', ');
  const isAlone = 'inventory' in restored && !('requests' in restored);
  return [
    `\nRestored as of ${toSecond(time)}, with backups and protection. Look at what is in it:`,
    ...restores.map(({ target }) => `  aws dynamodb scan --max-items 5 --table-name ${target}`),
    `To put it to use, set in ${stagesFile}, under ${stage}:`,
    `  restoredTables: { ${line} },`,
    'and go on at "Put a restored table to use" in infra/RUNBOOK.md.',
    ...(isAlone
      ? [
          'The answers to repeated updates belong to the same second; without them, a repeated update gets the\nanswer of one that this table no longer has. Restore them too:',
          `  npm run restore -- --stage ${stage} --table requests --at ${toSecond(time)}`,
        ]
      : []),
    ...('apiKeys' in restored
      ? ['Keys that were revoked since are valid in it: revoke them again before it is put to use.']
      : []),
  ].join('\n');
}
