import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectRoot } from '../../../../infra/stages/projectRoot.ts';
import { buildTags, toNames } from '../../../../infra/stages/resourceNames.ts';
import { stages } from '../../../../infra/stages/stages.ts';
import { tables } from '../../../../infra/stages/tables.ts';
import { openTemporaryFolder } from '../../../support/temporaryFolder.ts';

const { folder, write, toPath } = openTemporaryFolder();

/** In place of the AWS CLI: writes down how it was called, and says the ARN that the lines ask for. */
const aws = `
  const [, operation, ...words] = process.argv.slice(2);
  require('node:fs').appendFileSync('calls', JSON.stringify([operation, ...words]) + '\\n');
  if (operation === 'describe-table') console.log('arn:restored');
`;

it('the lines of a restore give the new table what production sets, in an order that AWS takes', () => {
  write('aws.cjs', aws);
  write('aws', `#!/bin/sh\nexec '${process.execPath}' '${toPath('aws.cjs')}' "$@"\n`);
  chmodSync(toPath('aws'), 0o755);
  const page = readFileSync(join(projectRoot, 'infra/OPERATIONS.md'), 'utf8');
  const [, section = ''] = /^## Restore a table\n(.*?)^### /ms.exec(page) ?? [];
  const [, lines = ''] = /```sh\n(.*?)```/s.exec(section) ?? [];
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` };
  execFileSync('sh', ['-euc', lines], { cwd: folder, env });

  const stage = stages.production;
  const source = toNames(stage).toTable('inventory');
  const target = `${source}-20261224T095900Z`;
  const { read, write: written } = stage.settings.maximumUnitsPerSecond.inventory;
  const tags = Object.entries(buildTags(stage)).map(([key, value]) => `Key=${key},Value=${value}`);
  const calls = readFileSync(toPath('calls'), 'utf8').trim().split('\n');
  expect(calls.map((call) => JSON.parse(call))).toEqual([
    [
      ...['restore-table-to-point-in-time', '--source-table-name', source],
      ...['--target-table-name', target, '--restore-date-time', '2026-12-24T09:59:00Z'],
      '--on-demand-throughput-override',
      `MaxReadRequestUnits=${read},MaxWriteRequestUnits=${written}`,
    ],
    ['wait', 'table-exists', '--table-name', target],
    [
      ...['update-continuous-backups', '--table-name', target],
      ...['--point-in-time-recovery-specification', 'PointInTimeRecoveryEnabled=true'],
    ],
    [
      ...['describe-table', '--table-name', target],
      ...['--query', 'Table.TableArn', '--output', 'text'],
    ],
    ['tag-resource', '--resource-arn', 'arn:restored', '--tags', ...tags],
    ['update-table', '--table-name', target, '--deletion-protection-enabled'],
  ]);
  expect(section).toContain(`Enabled=true,AttributeName=${tables.requests.timeToLive}\``);
});
