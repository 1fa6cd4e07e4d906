import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { RegionInfo } from 'aws-cdk-lib/region-info';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { buildApp } from '../../../infra/buildApp.ts';
import {
  checkStageSettings,
  findExampleSettings,
  StageSettingsError,
} from '../../../infra/stages/checkStageSettings.ts';
import { regions } from '../../../infra/stages/regions.ts';
import { logRetentionDays, type StageSettings } from '../../../infra/stages/stageSettings.ts';
import { stageNames, stages, stagesForClients } from '../../../infra/stages/stages.ts';
import { synthesize } from '../../../infra/synthesize.ts';
import { changeProduction, fixtures } from '../../support/stageFixtures.ts';
import { callOps } from '../ops/opsProcess.ts';

const production = fixtures.production.settings;
const certificateArn = 'arn:aws:acm:eu-west-1:123456789012:certificate/1f-2e';
const name = 'api.petstore.example';

const budget = {
  monthlyDollars: 49.5,
  notify: ['finance@shop.example'],
  actualPercent: [80],
  forecastPercent: [80],
};

const maximum = production.maximumUnitsPerSecond;

/** Settings that cannot be deployed, by what is wrong; the types alone would let most of them through. */
const wrong: [field: string, changed: Record<string, unknown>][] = [
  ['purpose', { purpose: undefined }],
  ['purpose', { purpose: ' for nothing' }],
  ['purpose', { purpose: 'x'.repeat(101) }],
  ['account', { account: '12345' }],
  ['account', { account: 123456789012 }],
  ['region', { region: 'Ireland' }],
  ['region', { region: 'eu-west-9' }],
  ['allowedOrigins', { allowedOrigins: [] }],
  ['allowedOrigins', { allowedOrigins: ['https://shop.example/'] }],
  ['allowedOrigins', { allowedOrigins: ['https://shop.example/checkout'] }],
  ['allowedOrigins', { allowedOrigins: ['shop.example'] }],
  ['allowedOrigins', { allowedOrigins: ['ftp://shop.example'] }],
  ['allowedOrigins', { allowedOrigins: ['https://Shop.example'] }],
  ['allowedOrigins', { allowedOrigins: ['https://shop.example:443'] }],
  ['allowedOrigins', { allowedOrigins: ['*', 'https://shop.example'] }],
  ['allowedOrigins', { allowedOrigins: ['https://shop.example', 'https://shop.example'] }],
  ['allowedOrigins', { allowedOrigins: ["https://o'shop.example"] }],
  ['allowedOrigins', { allowedOrigins: ['https://shop.example"'] }],
  ['allowedOrigins', { allowedOrigins: ['https://$shop.example'] }],
  ['allowedOrigins', { allowedOrigins: 'https://shop.example' }],
  ['baseAddress', { baseAddress: undefined }],
  ['baseAddress', { baseAddress: 'https://api.shop.example' }],
  ['baseAddress', { baseAddress: 'https://api.shop.example/v1/' }],
  ['baseAddress', { baseAddress: 'http://api.shop.example/v1' }],
  ['baseAddress', { region: 'eu-west-1', customDomain: { name: 'a.example', certificateArn } }],
  ['documentationAddress', { documentationAddress: 'https://docs.shop.example/' }],
  ['documentationAddress', { documentationAddress: 'https://docs.shop.example/a>b' }],
  ['documentationAddress', { documentationAddress: 'https://docs.shop.example/#top' }],
  ['documentationAddress', { documentationAddress: 'docs.shop.example' }],
  ['customDomain', { customDomain: { certificateArn } }],
  ['customDomain', { customDomain: { name } }],
  ['customDomain', { customDomain: { name: 'https://api.petstore.example', certificateArn } }],
  ['customDomain', { customDomain: { name, certificateArn: 'arn:aws:iam::1:certificate/a' } }],
  ['customDomain', { region: 'us-east-1', customDomain: { name, certificateArn } }],
  ['logLevel', { logLevel: 'WARN' }],
  ['logRetentionDays', { logRetentionDays: 15 }],
  ['alarms.page', { alarms: { page: 'ops' } }],
  ['alarms.page', { alarms: { page: 'ops@petstore' } }],
  ['alarms.ticket', { alarms: { ticket: 'a@b.example, c@d.example' } }],
  ['alarms.ticket', { alarms: { ticket: 'arn:aws:sqs:eu-west-1:123456789012:queue' } }],
  ['checkEveryMinutes', { checkEveryMinutes: 0 }],
  ['checkEveryMinutes', { checkEveryMinutes: 61 }],
  ['quietMinutes', { quietMinutes: 0 }],
  ['quietMinutes', { quietMinutes: 1441 }],
  ['raisesAlarms', { raisesAlarms: 'yes' }],
  ['alarms.sms', { alarms: { sms: 'ops@petstore.example' } }],
  ['protectsData', { protectsData: 'yes' }],
  ['backupRegion', { region: 'eu-west-1', backupRegion: 'Frankfurt' }],
  ['backupRegion', { region: 'eu-west-1', backupRegion: 'eu-west-1' }],
  ['backupRegion', { backupRegion: 'eu-central-1' }],
  ['restoredTables.inventory', { restoredTables: { inventory: 'a b' } }],
  ['restoredTables.inventory', { restoredTables: { inventory: 'petstore-production-inventory' } }],
  ['restoredTables.pets', { restoredTables: { pets: 'petstore-staging-apiKeys' } }],
  ['restoredTables.stock', { restoredTables: { stock: 'petstore-stock' } }],
  ['throttles.getPet', { throttles: { ...production.throttles, getPet: { rate: 0, burst: 5 } } }],
  ['throttles.getPet', { throttles: { ...production.throttles, getPet: { rate: -1, burst: 5 } } }],
  ['throttles.getPet', { throttles: { ...production.throttles, getPet: { rate: 9, burst: 8 } } }],
  ['throttles.getPet', { throttles: { ...production.throttles, getPet: { rate: 1, burst: 1.5 } } }],
  [
    'throttles.getPet',
    { throttles: { ...production.throttles, getPet: { rate: 10_001, burst: 5_000 } } },
  ],
  [
    'throttles.getPet',
    { throttles: { ...production.throttles, getPet: { rate: 100, burst: 5_001 } } },
  ],
  ['throttles.other', { throttles: { ...production.throttles, other: undefined } }],
  ['memoryMegabytes.getPet', { memoryMegabytes: { ...production.memoryMegabytes, getPet: 127 } }],
  [
    'memoryMegabytes.getPet',
    { memoryMegabytes: { ...production.memoryMegabytes, getPet: 10_241 } },
  ],
  ['memoryMegabytes.getPet', { memoryMegabytes: { ...production.memoryMegabytes, getPet: 512.5 } }],
  ['memoryMegabytes.listInventory', { memoryMegabytes: {} }],
  ['memoryMegabytes', { memoryMegabytes: 512 }],
  ['reservedConcurrency.getPet', { reservedConcurrency: { getPet: -1 } }],
  [
    'reservedConcurrency.getPet',
    { accountConcurrency: 1000, reservedConcurrency: { getPet: 901 } },
  ],
  ['reservedConcurrency.getPet', { reservedConcurrency: { getPet: 1 } }],
  ['reservedConcurrency.getPet', { accountConcurrency: 10, reservedConcurrency: { getPet: 1 } }],
  [
    'reservedConcurrency.getPet',
    { accountConcurrency: 1000, reservedConcurrency: { getPet: 900, listOrders: 900 } },
  ],
  ['accountConcurrency', { accountConcurrency: 0 }],
  ['rollout', { rollout: 'slowly' }],
  ['rollout', { rollout: undefined }],
  ['firewall', { firewall: 1 }],
  ['owner', { owner: undefined }],
  ['owner', { owner: '' }],
  ['owner', { owner: 'petstore; team' }],
  ['owner', { owner: 'petstore team ' }],
  ['tracing', { tracing: undefined }],
  ['tracing', { tracing: { reservedPerSecond: 0 } }],
  ['tracing', { tracing: { reservedPerSecond: 0.5, percent: 1 } }],
  ['tracing', { tracing: { reservedPerSecond: 0, percent: 101 } }],
  ['tracing', { tracing: { reservedPerSecond: 0, percent: -1 } }],
  ['tracing', { tracing: { reservedPerSecond: 0, percent: 1, rate: 1 } }],
  ['budget', { budget: 100 }],
  ['budget', { budget: { ...budget, monthlyDollars: 0 } }],
  ['budget', { budget: { ...budget, monthlyDollars: '100' } }],
  ['budget', { budget: { ...budget, notify: [] } }],
  ['budget', { budget: { ...budget, notify: ['finance'] } }],
  ['budget', { budget: { ...budget, notify: Array.from('abcdefghijk', (a) => `${a}@b.example`) } }],
  ['budget', { budget: { ...budget, notify: ['a@b.example', 'a@b.example'] } }],
  ['budget', { budget: { ...budget, actualPercent: [], forecastPercent: [] } }],
  ['budget', { budget: { ...budget, actualPercent: [10, 20, 30, 40], forecastPercent: [50, 60] } }],
  ['budget', { budget: { ...budget, actualPercent: [80, 80] } }],
  ['budget', { budget: { ...budget, forecastPercent: [0] } }],
  ['budget', { budget: { ...budget, forecastPercent: undefined } }],
  ['budget', { budget: { ...budget, currency: 'EUR' } }],
  ['maximumUnitsPerSecond', { maximumUnitsPerSecond: undefined }],
  ['maximumUnitsPerSecond.orders', { maximumUnitsPerSecond: { ...maximum, orders: undefined } }],
  ['maximumUnitsPerSecond.pets', { maximumUnitsPerSecond: { ...maximum, pets: { read: 1 } } }],
  [
    'maximumUnitsPerSecond.pets',
    { maximumUnitsPerSecond: { ...maximum, pets: { read: 0, write: 1 } } },
  ],
  [
    'maximumUnitsPerSecond.stock',
    { maximumUnitsPerSecond: { ...maximum, stock: { read: 1, write: 1 } } },
  ],
  ['colour', { colour: 'blue' }],
];

const right: Record<string, unknown>[] = [
  { account: '123456789012', region: 'eu-west-1', customDomain: { name, certificateArn } },
  { allowedOrigins: ['https://shop.example', 'http://localhost:5173', 'https://a.b.example:8443'] },
  { documentationAddress: 'https://shop.example/docs/petstore' },
  { alarms: { page: 'ops+petstore@shop.example' }, logRetentionDays: 9999, logLevel: 'DEBUG' },
  {
    accountConcurrency: 1000,
    reservedConcurrency: { getPet: 0, listOrders: 900 },
    restoredTables: { pets: 'pets-restored' },
  },
  { reservedConcurrency: { updateInventory: 0 } },
  { region: 'eu-west-1', backupRegion: 'eu-central-1' },
  { throttles: { ...production.throttles, getPet: { rate: 0.5, burst: 1 } } },
  { throttles: { ...production.throttles, getPet: { rate: 10_000, burst: 5_000 } } },
  { owner: 'Équipe Petstore/EU', tracing: { reservedPerSecond: 10, percent: 0.5 } },
  { budget },
  { budget: { ...budget, actualPercent: [], forecastPercent: [80, 100.5, 120, 200, 1000] } },
  { rollout: 'linear10PercentEveryMinute', firewall: true },
];

describe("a stage's settings", () => {
  it.each(Object.values(stages))('are right for $name', (stage) => {
    expect(() => checkStageSettings(stage)).not.toThrow();
  });

  it('are listed for clients with the stages of real data first', () => {
    const isProtected = stagesForClients.map(({ settings }) => settings.protectsData);
    expect(stagesForClients).toHaveLength(stageNames.length);
    expect(isProtected).toEqual(isProtected.toSorted((one, other) => Number(other) - Number(one)));
  });

  it('can keep logs for as long as CloudWatch Logs can', () => {
    const known = Object.values(RetentionDays).filter((days) => typeof days === 'number');
    expect([...logRetentionDays]).toEqual(known.sort((one, other) => one - other));
  });

  it('know every region that the CDK knows', () => {
    expect(regions).toEqual(RegionInfo.regions.map(({ name }) => name));
  });

  it.each(right)('can be %j', (changed) => {
    expect(() => check(changed)).not.toThrow();
  });

  it.each(wrong)('are refused for %s in %j', (field, changed) => {
    const error = errorOf(() => check(changed));
    expect(error).toBeInstanceOf(StageSettingsError);
    expect(error?.message).toMatch(
      /^infra\/stages\/stages\.ts: [\w.]+ of production must be [^\n]+; it is [^\n]+\.$/,
    );
    expect(error?.message).toContain(`: ${field} of`);
  });
});

describe('synthesizing', () => {
  it('stops at a setting that makes no sense, in one line and with a status', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'petstore-settings-'));
    const wrongStage = changeProduction({ alarms: { page: 'ops' } });
    const outcome = await callOps(async () => synthesize([wrongStage]), [], { CDK_OUTDIR: folder });
    expect(outcome).toEqual({
      status: 1,
      stdout: '',
      stderr:
        'infra/stages/stages.ts: alarms.page of production must be an e-mail address such as "ops@shop.example", or the ARN of a topic; it is "ops".\n',
    });
    expect(readdirSync(folder)).toEqual([]);
    rmSync(folder, { recursive: true });
  });
});

it('a slip in the settings is told in one line, and where it is', () => {
  const root = join(import.meta.dirname, '../../..');
  const folder = mkdtempSync(join(tmpdir(), 'petstore-slip-'));
  for (const name of ['infra', 'shared', 'package.json']) {
    cpSync(join(root, name), join(folder, name), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const file = join(folder, 'infra/stages/stages.ts');
  writeFileSync(file, readFileSync(file, 'utf8').replace("logLevel: 'INFO',", "logLevel: 'INFO'"));
  const { status, stderr } = spawnSync(process.execPath, [join(folder, 'infra/app.ts')], {
    encoding: 'utf8',
    env: { ...process.env, CDK_OUTDIR: folder },
  });
  rmSync(folder, { recursive: true });
  expect(stderr).toMatch(/^\S+infra\/stages\/stages\.ts:\d+: Expected ','[^\n]*\n$/);
  expect(status).toBe(1);
});

const line =
  'infra/stages/stages.ts: examples of ours stand in baseAddress, documentationAddress, allowedOrigins of production; set your own before you deploy.';
const owned = changeProduction({
  baseAddress: 'https://api.shop.example/v1',
  documentationAddress: 'https://docs.shop.example',
  allowedOrigins: ['https://shop.example'],
});

afterEach(() => vi.unstubAllEnvs());

it('names the settings of production that are examples still', () => {
  expect(findExampleSettings(fixtures.production)).toBe(line);
  expect(findExampleSettings(owned)).toBeUndefined();
});

describe('synthesizing production', () => {
  it.each([
    [
      'stops at them where there is an account to deploy to',
      '123456789012',
      fixtures.production,
      [line],
      [],
    ],
    [
      'warns of them at a first look, without credentials',
      undefined,
      fixtures.production,
      [],
      [line],
    ],
    ['has nothing to say of addresses of one’s own', '123456789012', owned, [], []],
    ['has nothing to say of staging', '123456789012', fixtures.staging, [], []],
  ])('%s', (_, account, stage, errors, warnings) => {
    vi.stubEnv('CDK_DEFAULT_ACCOUNT', account);
    const app = buildApp({ context: { 'aws:cdk:bundling-stacks': [] } }, [stage]);
    const { metadata } = app.node.findChild(`petstore-${stage.name}`).node;
    const toLines = (type: string) =>
      metadata
        .filter((entry) => entry.type === type)
        .map(({ data }) => String(data))
        .filter((text) => text.includes('examples'));
    expect(toLines('aws:cdk:error')).toEqual(errors);
    expect(toLines('aws:cdk:warning')).toEqual(
      warnings.map((text) => expect.stringContaining(text)),
    );
  });
});

function check(changed: Record<string, unknown>): void {
  checkStageSettings(changeProduction(changed as Partial<StageSettings>));
}

function errorOf(act: () => void): Error | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    return error as Error;
  }
}
