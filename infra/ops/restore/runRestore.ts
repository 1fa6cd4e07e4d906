import { parseArgs } from 'node:util';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { toSecond } from '../../cli/instant.ts';
import { listenForInterruption } from '../../cli/interruption.ts';
import { parseStage, toRegion } from '../../cli/stageOption.ts';
import { readOutput, readStack } from '../../cli/stageStack.ts';
import { UsageError } from '../../cli/usage.ts';
import { toTableOutput } from '../../stages/resourceNames.ts';
import type { Stage } from '../../stages/stages.ts';
import type { TableName } from '../../stages/tables.ts';
import { toNextSteps } from './nextSteps.ts';
import { readLatest } from './restorableTime.ts';
import { finishAll, startAll } from './restoreAll.ts';
import { parseTables, parseTime, restoreFlags, restoreHelp } from './restoreOptions.ts';
import { type TableRestore, toTargetName } from './tableRestore.ts';

/** Restores tables of a stage. @throws {UsageError} when what was typed makes no sense */
export async function runRestore(args: string[], pollMilliseconds = 10_000): Promise<void> {
  const { values } = parseArgs({ args, options: restoreFlags });
  if (values.help) return print(restoreHelp.trimEnd());
  const stage = parseStage(values.stage);
  const names = parseTables(values.table);
  const at = parseTime(values.at);
  if (values.from !== undefined && names.length > 1) {
    throw new UsageError('--from goes with one --table only.');
  }
  const client = new DynamoDBClient(toRegion(stage));
  const sources = await findSources(stage, names, values.from);
  const time = at === 'latest' ? await findLatest(client, Object.values(sources)) : at;
  const restores = names.map((name) => ({
    name,
    source: sources[name] ?? '',
    target: toTargetName(stage, name, time),
    time,
  }));

  await startAll(client, restores);
  using interruption = listenForInterruption();
  const { signal, status } = interruption;
  try {
    await finishAll(client, restores, { pollMilliseconds, signal });
  } catch (error) {
    const again = toAgain(stage, restores, time, values.from);
    tell(
      `${signal.aborted ? 'Interrupted' : 'Stopped'}; the restore goes on. Follow it with:\n  ${again}`,
    );
    if (!signal.aborted) throw error;
    process.exitCode = status();
    return;
  }
  print(toNextSteps(stage, restores, time));
}

/** The tables in use are known to the stack, and may be restored ones themselves. */
async function findSources(
  stage: Stage,
  names: readonly TableName[],
  from: string | undefined,
): Promise<Partial<Record<TableName, string>>> {
  if (from !== undefined) return Object.fromEntries(names.map((name) => [name, from]));
  const stack = await readStack(stage);
  return Object.fromEntries(names.map((name) => [name, readOutput(stack, toTableOutput(name))]));
}

/** The latest second that all of the tables can be restored to. */
async function findLatest(client: DynamoDBClient, sources: readonly string[]): Promise<Date> {
  const latest = await Promise.all(sources.map((source) => readLatest(client, source)));
  return new Date(Math.min(...latest.map((time) => Math.floor(time.getTime() / 1_000) * 1_000)));
}

function toAgain(
  { name: stage }: Stage,
  restores: readonly TableRestore[],
  time: Date,
  from: string | undefined,
): string {
  const tables = restores.map(({ name }) => `--table ${name}`).join(' ');
  const source = from === undefined ? '' : ` --from ${from}`;
  return `npm run restore -- --stage ${stage} ${tables} --at ${toSecond(time)}${source}`;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function tell(line: string): void {
  process.stderr.write(`${line}\n`);
}
