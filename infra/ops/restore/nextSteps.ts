import { toSecond } from '../../cli/instant.ts';
import { type Stage, stagesFile } from '../../stages/stages.ts';
import type { TableRestore } from './tableRestore.ts';

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
  return [
    `\nRestored as of ${toSecond(time)}, with backups and protection. Look at what is in it:`,
    ...restores.map(({ target }) => `  aws dynamodb scan --max-items 5 --table-name ${target}`),
    `To put it to use, set in ${stagesFile}, under ${stage}:`,
    `  restoredTables: { ${line} },`,
    'and go on at "Put a restored table to use" in infra/RUNBOOK.md.',
    ...toNotes(stage, restored, time),
  ].join('\n');
}

function toNotes(stage: string, restored: Readonly<Record<string, string>>, time: Date): string[] {
  const isAlone = 'inventory' in restored && !('requests' in restored);
  return [
    ...(isAlone
      ? [
          'The answers to repeated updates belong to the same second; without them, a repeated update gets the\nanswer of one that this table no longer has. Restore them too:',
          `  npm run restore -- --stage ${stage} --table requests --at ${toSecond(time)}`,
        ]
      : []),
    ...('apiKeys' in restored
      ? ['Keys that were revoked since are valid in it: revoke them again before it is put to use.']
      : []),
  ];
}
