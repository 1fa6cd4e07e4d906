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
import { afterEach, describe, expect, it, vi } from 'vitest';
import { buildApp } from '../../../infra/buildApp.ts';
import {
  checkStageSettings,
  findExampleSettings,
  StageSettingsError,
} from '../../../infra/stages/checkStageSettings.ts';
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

/** What a setting, or a part of one, cannot be; the types alone would let most of it through. */
const wrong: Record<string, unknown[]> = {
  purpose: [undefined, ' for nothing', 'x'.repeat(101)],
  account: ['12345', 123456789012],
  region: ['Ireland', 'eu-west-9'],
  allowedOrigins: [
    ...[[], 'https://shop.example', ['*', 'https://shop.example']],
    ...[['https://shop.example', 'https://shop.example'], ['https://shop.example:443']],
    ...[['https://shop.example/'], ['https://shop.example/checkout'], ['shop.example']],
    ...[['ftp://shop.example'], ['https://Shop.example'], ["https://o'shop.example"]],
    ...[['https://shop.example"'], ['https://$shop.example']],
  ],
  baseAddress: [
    ...[undefined, 'https://api.shop.example', 'https://api.shop.example/v1/'],
    'http://api.shop.example/v1',
  ],
  documentationAddress: [
    ...['https://docs.shop.example/', 'https://docs.shop.example/a>b', 'docs.shop.example'],
    'https://docs.shop.example/#top',
  ],
  customDomain: [
    ...[{ certificateArn }, { name }, { name: `https://${name}`, certificateArn }],
    ...[{ name, certificateArn, port: 443 }],
    { name, certificateArn: 'arn:aws:iam::1:certificate/a' },
  ],
  logLevel: ['WARN'],
  logRetentionDays: [15],
  'alarms.page': ['ops', 'ops@petstore'],
  'alarms.ticket': ['a@b.example, c@d.example', 'arn:aws:sqs:eu-west-1:123456789012:queue'],
  'alarms.sms': ['ops@petstore.example'],
  checkEveryMinutes: [0, 61],
  quietMinutes: [0, 1441],
  raisesAlarms: ['yes'],
  protectsData: ['yes'],
  backupRegion: ['eu-central-1'],
  'restoredTables.inventory': ['a b', 'petstore-production-inventory'],
  'restoredTables.pets': ['petstore-staging-apiKeys'],
  'restoredTables.stock': ['petstore-stock'],
  'throttles.getPet': [
    ...[
      { rate: 0, burst: 5 },
      { rate: -1, burst: 5 },
      { rate: 9, burst: 8 },
    ],
    ...[
      { rate: 1, burst: 1.5 },
      { rate: 10_001, burst: 5_000 },
      { rate: 100, burst: 5_001 },
    ],
    { rate: 1, burst: 2, per: 'minute' },
  ],
  'throttles.other': [undefined],
  'memoryMegabytes.getPet': [127, 10_241, 512.5, undefined],
  memoryMegabytes: [512],
  'reservedConcurrency.getPet': [-1, 1],
  accountConcurrency: [0],
  rollout: ['slowly', undefined],
  firewall: [1],
  owner: [undefined, '', 'petstore; team', 'petstore team '],
  tracing: [
    ...[undefined, { reservedPerSecond: 0 }, { reservedPerSecond: 0.5, percent: 1 }],
    ...[
      { reservedPerSecond: 0, percent: 101 },
      { reservedPerSecond: 0, percent: -1 },
    ],
    ...[
      { reservedPerSecond: 1_001, percent: 1 },
      { reservedPerSecond: 0, percent: 1, rate: 1 },
    ],
  ],
  inventoryEntries: [-1, 1_000_000_001],
  worstMonthDollars: [0, '1'],
  budget: [
    100,
    ...[
      ...[{ monthlyDollars: 0 }, { monthlyDollars: '100' }, { currency: 'EUR' }],
      ...[{ notify: [] }, { notify: ['finance'] }, { notify: ['a@b.example', 'a@b.example'] }],
      { notify: Array.from('abcdefghijk', (a) => `${a}@b.example`) },
      ...[{ actualPercent: [], forecastPercent: [] }, { actualPercent: [80, 80] }],
      { actualPercent: [10, 20, 30, 40], forecastPercent: [50, 60] },
      ...[{ forecastPercent: [0] }, { forecastPercent: undefined }],
    ].map((change) => ({ ...budget, ...change })),
  ],
  maximumUnitsPerSecond: [undefined],
  'maximumUnitsPerSecond.orders': [undefined],
  'maximumUnitsPerSecond.pets': [{ read: 1 }, { read: 0, write: 1 }, { read: 1, write: 1_000_001 }],
  'maximumUnitsPerSecond.stock': [{ read: 1, write: 1 }],
  colour: ['blue'],
};

const reserved = 'reservedConcurrency.getPet';
/** Settings that are wrong beside each other, and the one that is blamed. */
const wrongTogether: [field: string, changed: Record<string, unknown>][] = [
  ['baseAddress', { region: 'eu-west-1', customDomain: { name: 'a.example', certificateArn } }],
  ['customDomain', { region: 'us-east-1', customDomain: { name, certificateArn } }],
  ['backupRegion', { region: 'eu-west-1', backupRegion: 'Frankfurt' }],
  ['backupRegion', { region: 'eu-west-1', backupRegion: 'eu-west-1' }],
  [reserved, { accountConcurrency: 1000, reservedConcurrency: { getPet: 901 } }],
  [reserved, { accountConcurrency: 1000, reservedConcurrency: { getPet: 900, listOrders: 900 } }],
  [reserved, { accountConcurrency: 10, reservedConcurrency: { getPet: 1 } }],
];

/** Production's settings with another value of one, or of a part of one. */
function toChange(field: string, value: unknown): Record<string, unknown> {
  const [setting = '', part] = field.split('.');
  const before = production[setting as 'throttles'];
  return { [setting]: part === undefined ? value : { ...before, [part]: value } };
}

const right: Record<string, unknown>[] = [
  { account: '123456789012', region: 'eu-west-1', customDomain: { name, certificateArn } },
  { allowedOrigins: ['https://shop.example', 'http://localhost:5173', 'https://a.b.example:8443'] },
  { documentationAddress: 'https://shop.example/docs/petstore' },
  { alarms: { page: 'ops+petstore@shop.example' }, logRetentionDays: 9999, logLevel: 'DEBUG' },
  { accountConcurrency: 1000, reservedConcurrency: { getPet: 0, listOrders: 900 } },
  { reservedConcurrency: { updateInventory: 0 }, restoredTables: { pets: 'pets-restored' } },
  { region: 'eu-west-1', backupRegion: 'eu-central-1' },
  toChange('throttles.getPet', { rate: 0.5, burst: 1 }),
  toChange('throttles.getPet', { rate: 10_000, burst: 5_000 }),
  { owner: 'Équipe Petstore/EU', tracing: { reservedPerSecond: 10, percent: 0.5 } },
  { budget },
  { budget: { ...budget, actualPercent: [], forecastPercent: [80, 100.5, 120, 200, 1000] } },
  { rollout: 'linear10PercentEveryMinute', firewall: true, checkEveryMinutes: 60 },
  { checkEveryMinutes: 1, quietMinutes: 1440 },
];

const rows = [
  ...Object.entries(wrong).flatMap(([field, values]) =>
    values.map((value) => [field, toChange(field, value)] as const),
  ),
  ...wrongTogether,
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

  it.each(right)('can be %j', (changed) => {
    expect(() => check(changed)).not.toThrow();
  });

  it.each(rows)('are refused for %s in %j', (field, changed) => {
    const complaint = new RegExp(
      `^infra/stages/stages\\.ts: ${field} of production must be [^\\n]+; it is [^\\n]+\\.$`,
    );
    expect(() => check(changed)).toThrow(StageSettingsError);
    expect(() => check(changed)).toThrow(complaint);
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
    ['stops at them where there is an account', '123456789012', fixtures.production, [line], []],
    ['warns of them without credentials', undefined, fixtures.production, [], [line]],
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
