import { readdirSync } from 'node:fs';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { describe, expect, it } from 'vitest';
import { synthesize } from '../../../infra/buildApp.ts';
import { findBaseAddress, findDocumentationAddress } from '../../../infra/stages/addresses.ts';
import {
  checkStageSettings,
  StageSettingsError,
} from '../../../infra/stages/checkStageSettings.ts';
import { toNames } from '../../../infra/stages/resourceNames.ts';
import { type StageSettings, stageSettings } from '../../../infra/stages/stageSettings.ts';
import { type StageName, stageNames, stagesForClients } from '../../../infra/stages/stages.ts';
import { operationIds } from '../../../shared/contract/operations.ts';
import { changeProduction, fixtures } from '../../support/stageFixtures.ts';
import { deployedStages } from '../../support/suite/testStages.ts';
import { openTemporaryFolder } from '../../support/temporaryFolder.ts';
import { callOps } from '../ops/opsProcess.ts';

const { folder } = openTemporaryFolder();
const production = fixtures.production.settings;
const certificateArn = 'arn:aws:acm:eu-west-1:123456789012:certificate/1f-2e';
const name = 'api.petstore.example';
const customDomain = { name, certificateArn };
const notify = ['finance@shop.example'];
const budget = { monthlyDollars: 49.5, notify, actualPercent: [80], forecastPercent: [80] };
const anomalies = { minDollars: 0.5, notify };

/** Invalid values of a setting, or of a part of one: beyond each of our bounds, and of another type. */
const wrong: Record<string, unknown[]> = {
  purpose: [undefined, ' for nothing', 'x'.repeat(101)],
  account: ['12345'],
  region: ['eu-west-9', 'cn-north-1', 'us-gov-west-1', 'us-iso-east-1'],
  allowedOrigins: [
    ...[[], ['*', 'https://shop.example'], ['https://shop.example', 'https://shop.example']],
    ...[['https://shop.example:443'], ['https://shop.example/'], ['shop.example']],
    ...[['ftp://shop.example'], ["https://o'shop.example"], ['https://$shop.example']],
  ],
  baseAddress: [
    'api.shop.test/v1',
    'https://api.shop.example',
    'https://api.shop.example/v1/',
    'http://a.example/v1',
  ],
  documentationAddress: [
    ...['https://docs.shop.example/', 'https://docs.shop.example/a>b', 'docs.shop.example'],
    'https://docs.shop.example/#top',
  ],
  'customDomain.name': [`https://${name}`, 'API.shop.test'],
  'customDomain.certificateArn': [undefined, 'arn:aws:iam::1:certificate/a'],
  logLevel: ['WARN'],
  'alarms.page': ['ops'],
  'alarms.ticket': [
    'arn:aws:sqs:eu-west-1:123456789012:a',
    'arn:aws-cn:sns:cn-north-1:123456789012:a',
  ],
  alarms: [{ sms: 'ops@petstore.example' }],
  checkEveryMinutes: [0, 61],
  quietMinutes: [0, 1441],
  backupRegion: ['eu-central-1'],
  'restoredTables.inventory': ['a b', 'petstore-production-inventory', 'petstore-qa-apiKeys'],
  'throttles.getPet': [{ rate: 9, burst: 8 }],
  'throttles.getPet.rate': [0, 10_001],
  'throttles.getPet.burst': [1.5, 5_001],
  'throttles.other': [undefined],
  'memoryMegabytes.getPet': [127, 10_241, undefined],
  'reservedConcurrency.getPet': [-1, 1_000_001],
  reservedConcurrency: [{ getPet: 1 }],
  accountConcurrency: [0, 1_000_001],
  rollout: ['slowly'],
  firewallRequestsPerAddress: [9, 2_000_000_001],
  owner: ['', 'petstore; team', 'petstore team '],
  'tracing.reservedPerSecond': [-1, 1_001, 0.5],
  'tracing.percent': [-1, 101],
  inventoryEntries: [-1, 1_000_000_001],
  worstMonthDollars: [0],
  'anomalies.minDollars': [0],
  'anomalies.notify': [[]],
  maxIncreaseDollars: [-1],
  maxIncreasePercent: [-1],
  'budget.monthlyDollars': [0],
  'budget.notify': [
    ...[[], ['a@b.example', 'a@b.example']],
    Array.from('abcdefghijk', (a) => `${a}@b.example`),
  ],
  'budget.notify.0': ['finance'],
  'budget.actualPercent': [[80, 80], [0]],
  budget: [
    { ...budget, actualPercent: [], forecastPercent: [] },
    { ...budget, actualPercent: [10, 20, 30, 40], forecastPercent: [50, 60] },
  ],
  'maximumUnitsPerSecond.orders': [undefined],
  'maximumUnitsPerSecond.pets.read': [0, 1_000_001],
  'maximumUnitsPerSecond.pets.write': [0, 1_000_001],
};

const reserved = 'reservedConcurrency';
/** Settings that are wrong together, and the one in the error. */
const wrongTogether: [field: string, changed: Record<string, unknown>][] = [
  ['customDomain', { region: 'us-east-1', customDomain }],
  ['firewallRequestsPerAddress', { firewallRequestsPerAddress: 10_000 }],
  ['customDomain', { account: '111122223333', customDomain }],
  ['restoredTables', { restoredTables: { pets: 'copy', orders: 'copy' } }],
  ['backupRegion', { region: 'eu-west-1', backupRegion: 'Frankfurt' }],
  ['backupRegion', { region: 'eu-west-1', backupRegion: 'eu-west-1' }],
  ['backupRegion', { region: 'eu-west-1', backupRegion: 'cn-north-1' }],
  ['alarms', { raisesAlarms: false, alarms: { page: 'a@b.example' } }],
  ['checkEveryMinutes', { raisesAlarms: false }],
  ['quietMinutes', { raisesAlarms: false, quietMinutes: 15 }],
  [
    'alarms.page',
    { region: 'eu-west-1', alarms: { page: 'arn:aws:sns:us-east-1:123456789012:a' } },
  ],
  [reserved, { accountConcurrency: 1000, reservedConcurrency: { getPet: 901 } }],
  [reserved, { accountConcurrency: 1000, reservedConcurrency: { getPet: 900, listOrders: 900 } }],
  [reserved, { accountConcurrency: 10, reservedConcurrency: { getPet: 1 } }],
];

/** Production's settings with another value of one setting, or of a part of one. */
function toChange(path: string, value: unknown): Record<string, unknown> {
  const changed = structuredClone<Record<string, unknown>>({
    ...production,
    ...{ budget, anomalies, customDomain, alarms: {}, restoredTables: {}, reservedConcurrency: {} },
  });
  const names = path.split('.');
  const last = names.pop() ?? '';
  const at = names.reduce((parent, part) => parent[part] as typeof changed, changed);
  at[last] = value;
  return changed;
}

const right: Record<string, unknown>[] = [
  { account: '123456789012', region: 'eu-west-1', customDomain },
  { allowedOrigins: ['https://shop.example', 'http://localhost:5173', 'https://a.b.example:8443'] },
  { documentationAddress: 'https://shop.example/docs/petstore' },
  { alarms: { page: 'ops+petstore@shop.example' }, logRetentionDays: 9999, logLevel: 'DEBUG' },
  { accountConcurrency: 1000, reservedConcurrency: { getPet: 0, listOrders: 900 } },
  { reservedConcurrency: { updateInventory: 0 }, restoredTables: { pets: 'pets-restored' } },
  { region: 'eu-west-1', backupRegion: 'eu-central-1' },
  toChange('throttles.getPet', { rate: 0.5, burst: 1 }),
  toChange('throttles.getPet', { rate: 10_000, burst: 5_000 }),
  { owner: 'Équipe Petstore/EU', tracing: { reservedPerSecond: 10, percent: 0.5 } },
  { budget, anomalies },
  { budget: { ...budget, actualPercent: [], forecastPercent: [80, 100.5, 120, 200, 1000] } },
  { rollout: 'linear10PercentEveryMinute', firewall: true, checkEveryMinutes: 60 },
  { checkEveryMinutes: 1, quietMinutes: 1440 },
];

const wrongAlone = Object.entries(wrong).flatMap(([field, values]) =>
  values.map((value) => [field, toChange(field, value)] as const),
);

describe("a stage's settings", () => {
  it.each(deployedStages)('are valid for $name', (stage) => {
    expect(() => checkStageSettings(stage)).not.toThrow();
  });

  it('are listed for clients, stages with real data first', () => {
    const isProtected = stagesForClients.map(({ settings }) => settings.protectsData);
    expect(stagesForClients).toHaveLength(stageNames.length);
    expect(isProtected).toEqual(isProtected.toSorted((one, other) => Number(other) - Number(one)));
  });

  it('can keep logs for as long as CloudWatch Logs can', () => {
    const known = Object.values(RetentionDays).filter((days) => typeof days === 'number');
    expect(stageSettings.shape.logRetentionDays.values).toEqual(new Set(known));
  });

  it.each(right)('can be %j', (changed) => {
    expect(() => check(changed)).not.toThrow();
  });

  it.each([...wrongAlone, ...wrongTogether])('are refused for %s, row %#', (field, changed) => {
    const stage = `^infra/stages/stages\\.ts: production\\.${field}`;
    const complaint = new RegExp(`${stage}[.\\d]*: [^\\n]+; it is [^\\n]+\\.$`);
    expect(() => check(changed)).toThrow(StageSettingsError);
    expect(() => check(changed)).toThrow(complaint);
  });

  it.each(['', 'Blue', 'blue_green', 'blue-watch', '2', 'x'.repeat(24)])(
    'are refused for a stage named "%s"',
    (wrongName) => {
      const stage = { ...fixtures.production, name: wrongName as StageName };
      expect(() => checkStageSettings(stage)).toThrow(
        new StageSettingsError(
          `infra/stages/stages.ts: the name of a stage must be 1 to 23 lower-case letters and digits, beginning with a letter; it is "${wrongName}".`,
        ),
      );
    },
  );

  it('allow a name of 23 letters and digits, which fits everywhere in AWS', () => {
    const stage = { ...fixtures.production, name: `x${'2'.repeat(22)}` as StageName };
    expect(() => checkStageSettings(stage)).not.toThrow();
    const { toFunction, copiesVault, api } = toNames(stage);
    const functions = operationIds.map((id) => toFunction(id).length);
    expect(Math.max(...functions)).toBeLessThanOrEqual(64);
    expect(copiesVault.length).toBeLessThanOrEqual(50);
    // X-Ray's sampling rule has the gateway's name.
    expect(api).toHaveLength(32);
  });

  it('are refused with an unknown setting', () => {
    expect(() => check({ colour: 'blue' })).toThrow(/^\S+: production: .*"colour"\.$/);
  });
});

it('the synthesis stops at an invalid setting, with one line and a status', async () => {
  const wrongStage = changeProduction({ alarms: { page: 'ops' } });
  const outcome = await callOps(async () => synthesize([wrongStage]), [], { CDK_OUTDIR: folder });
  const rule = 'must be an e-mail address such as "ops@shop.example", or the ARN of a topic';
  const stderr = `infra/stages/stages.ts: production.alarms.page: ${rule}; it is "ops".\n`;
  expect(outcome).toEqual({ status: 1, stdout: '', stderr });
  expect(readdirSync(folder)).toEqual([]);
});

it('the synthesis stops at a worst month past its limit, with one line that says what to change', async () => {
  const dearer = changeProduction({ worstMonthDollars: 100 });
  const outcome = await callOps(async () => synthesize([dearer]), [], { CDK_OUTDIR: folder });
  const stderr = expect.stringMatching(
    /^The worst month of production can cost \$\d{5}, more than its worstMonthDollars of 100\. .*\n$/,
  );
  expect(outcome).toEqual({ status: 1, stdout: '', stderr });
});

const baseAddress = 'https://shop.example/v1';
it.each([
  [baseAddress, { baseAddress, customDomain }],
  ['https://api.petstore.example/v1', { customDomain }],
  [undefined, {}],
])('the settings give the base address %s', (expected, settings) => {
  expect(findBaseAddress({ ...production, ...settings })).toBe(expected);
});

it('returns the documentation address unless it is an example', () => {
  const documentationAddress = 'https://docs.shop.example';
  expect(findDocumentationAddress(production)).toBeUndefined();
  expect(findDocumentationAddress({ ...production, documentationAddress })).toBe(
    documentationAddress,
  );
});

function check(changed: Record<string, unknown>): void {
  checkStageSettings(changeProduction(changed as Partial<StageSettings>));
}
