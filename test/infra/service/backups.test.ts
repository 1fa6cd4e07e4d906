import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Template } from 'aws-cdk-lib/assertions';
import { afterAll, expect, it } from 'vitest';
import { buildApp } from '../../../infra/buildApp.ts';
import { templates } from '../../support/stackTemplates.ts';
import { changeProduction } from '../../support/stageFixtures.ts';

const outdir = mkdtempSync(join(tmpdir(), 'petstore-backup-'));
afterAll(() => rmSync(outdir, { recursive: true, force: true }));

const copied = changeProduction({
  region: 'eu-west-1',
  backupRegion: 'eu-central-1',
  restoredTables: { inventory: 'inventory-restored' },
});
const context = { 'aws:cdk:bundling-stacks': [] };
const assembly = buildApp({ outdir, context }, [copied]).synth();
const service = assembly.getStackByName('petstore-production');
const backup = assembly.getStackByName('petstore-production-backup');

it('is left out unless the settings name a region', () => {
  for (const template of Object.values(templates)) {
    template.resourceCountIs('AWS::Backup::BackupPlan', 0);
    template.resourceCountIs('AWS::Backup::BackupVault', 0);
  }
});

it('copies every night to the vault of the other region, which is there before and stays', () => {
  expect(backup.environment.region).toBe('eu-central-1');
  expect(service.dependencies.map(({ id }) => id)).toContain(backup.id);
  Template.fromJSON(backup.template).hasResource('AWS::Backup::BackupVault', {
    Properties: { BackupVaultName: 'petstore-production-copies' },
    DeletionPolicy: 'RetainExceptOnCreate',
  });
  const [plan] = Object.values(
    Template.fromJSON(service.template).findResources('AWS::Backup::BackupPlan'),
  );
  const [rule, ...others] = plan?.Properties.BackupPlan.BackupPlanRule ?? [];
  expect(others).toEqual([]);
  expect(rule).toMatchObject({
    ScheduleExpression: 'cron(0 3 * * ? *)',
    Lifecycle: { DeleteAfterDays: 1 },
    CopyActions: [{ Lifecycle: { DeleteAfterDays: 7 } }],
  });
  expect(JSON.stringify(rule.CopyActions[0].DestinationBackupVaultArn)).toContain(
    ':backup:eu-central-1:"',
  );
  expect(JSON.stringify(rule.CopyActions[0].DestinationBackupVaultArn)).toContain(
    ':backup-vault:petstore-production-copies"',
  );
});

it('copies the tables in use, but for the answers to repeated updates', () => {
  const [selection] = Object.values(
    Template.fromJSON(service.template).findResources('AWS::Backup::BackupSelection'),
  );
  const resources = (selection?.Properties.BackupSelection.Resources ?? []).map(
    (resource: unknown) =>
      /"(inventory-restored|\w+Table)|table\/([\w-]+)/.exec(JSON.stringify(resource)) ?? [],
  );
  expect(resources.map(([, own, restored]: string[]) => own ?? restored)).toEqual([
    'inventory-restored',
    'petsTable',
    'ordersTable',
    'apiKeysTable',
  ]);
});
