import { readdirSync, readFileSync } from 'node:fs';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { describe, expect, it, onTestFinished } from 'vitest';
import biome from '../../../biome.json' with { type: 'json' };
import { synthesize } from '../../../infra/deploy/buildApp.ts';
import { findBaseAddress, findDocumentationAddress } from '../../../infra/stages/addresses.ts';
import { checkStageSettings } from '../../../infra/stages/checkStageSettings.ts';
import { findReservedConcurrency } from '../../../infra/stages/concurrency.ts';
import { toNames } from '../../../infra/stages/resourceNames.ts';
import { type StageSettings, stageSettings } from '../../../infra/stages/stageSettings.ts';
import {
  operationSettings,
  type StageName,
  stageNames,
  stages,
  stagesFile,
  stagesForClients,
} from '../../../infra/stages/stages.ts';
import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import { changedSettings, changeProduction, fixtures } from '../../support/stageFixtures.ts';
import { deployedStages } from '../../support/suite/testStages.ts';
import { openTemporaryFolder } from '../../support/temporaryFolder.ts';
import { callOps, changeSettings } from '../ops/opsProcess.ts';

const { folder } = openTemporaryFolder();
const production = fixtures.production.settings;
const { anomalies, budget, customDomain } = changedSettings;

/** `production` with every part that a row changes. */
const whole = {
  ...production,
  region: 'eu-west-1',
  budget,
  anomalies,
  customDomain,
  alarms: {},
  restoredTables: {},
  reservedConcurrency: {},
};
const checked = new URL('checkedSettings.txt', import.meta.url);

/** Sets each of these settings, or the part of one that a path such as `throttles.updateInventory` names; `null` removes it. */
function change(changes: Record<string, unknown>): StageSettings {
  const changed = structuredClone<Record<string, unknown>>(whole);
  for (const [path, value] of Object.entries(changes)) {
    const names = path.split('.');
    const last = names.pop() ?? '';
    const at = names.reduce((parent, name) => parent[name] as typeof changed, changed);
    if (value === null) delete at[last];
    else at[last] = value;
  }
  return changed as unknown as StageSettings;
}

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

  // To add a row, write its JSON and ` → `, run this file with `--update`, and review what comes behind it.
  it('are valid, or are refused with a line that says what to change', async () => {
    const rows = readFileSync(checked, 'utf8').match(/^\{.*(?= → )/gm) ?? [];
    expect(rows.length).toBeGreaterThan(100);
    const lines = rows.map((row) => `${row} → ${check(JSON.parse(row))}\n`);
    await expect(lines.join('')).toMatchFileSnapshot(checked.pathname);
  });

  it.each([
    ['getInventoryEntry', { timeoutSeconds: 28 }, undefined],
    [
      'getInventoryEntry',
      { timeoutSeconds: 29 },
      'getInventoryEntry.timeoutSeconds: Too big: expected number to be <=28; it is 29',
    ],
    [
      'listInventory',
      { timeoutSeconds: 901 },
      'listInventory.timeoutSeconds: Too big: expected number to be <=900; it is 901',
    ],
    [
      'listOrders',
      { availabilityPercent: 100 },
      'listOrders.availabilityPercent: Too big: expected number to be <100; it is 100',
    ],
    ['getInventoryEntry', { timeoutSeconds: 5, latencyMilliseconds: 4_999 }, undefined],
    [
      'getInventoryEntry',
      { timeoutSeconds: 5, latencyMilliseconds: 5_000 },
      'getInventoryEntry.latencyMilliseconds: must be below 1000 * timeoutSeconds, or no alarm on it can fire; it is 5000',
    ],
    [
      'listInventory',
      { latencyMilliseconds: 3_000_000 },
      'listInventory.latencyMilliseconds: must be below 1000 * timeoutSeconds, or no alarm on it can fire; it is 3000000',
    ],
    [
      'listOrders',
      { latency: 3 },
      'listOrders: must not have "latency": delete it, or take its right name from infra/stages/stageSettings.ts.',
    ],
  ] as const)('of the operation %s may be %j, or are refused: %s', (id, changes, refused) => {
    const settings = operationSettings[id];
    onTestFinished(() => void Object.assign(operationSettings, { [id]: settings }));
    Object.assign(operationSettings, { [id]: { ...settings, ...changes } });
    const check = () => checkStageSettings(fixtures.staging);
    if (refused === undefined) expect(check).not.toThrow();
    else expect(check).toThrow(`infra/stages/stages.ts: operationSettings.${refused}`);
  });

  it('have a domain that no other stage of the region has', () => {
    changeSettings(stages.staging, { customDomain, region: 'eu-west-1' });
    expect(check({})).toBe('production.customDomain: must be another than that of staging');
    changeSettings(stages.staging, { region: 'us-east-1' });
    expect(check({})).toBe('valid');
  });

  it('have a name of at most 23 letters and digits, which fits everywhere in AWS', () => {
    const { toFunction, copiesVault, api } = toNames({ name: `x${'2'.repeat(22)}` as StageName });
    const functions = operationIds.map((id) => toFunction(id).length);
    expect(Math.max(...functions)).toBeLessThanOrEqual(64);
    expect(copiesVault.length).toBeLessThanOrEqual(50);
    // X-Ray's sampling rule has the gateway's name.
    expect(api).toHaveLength(32);
  });
});

it('the synthesis stops at an invalid setting, with one line and a status', async () => {
  const wrongStage = changeProduction({ alarms: { page: 'ops' } });
  const outcome = await callOps(() => synthesize([wrongStage]), [], {
    CDK_OUTDIR: folder,
  });
  const rule = 'must be an e-mail address such as "ops@shop.example", or the ARN of a topic';
  const stderr = `infra/stages/stages.ts: production.alarms.page: ${rule}; it is "ops".\n`;
  expect(outcome).toEqual({ status: 1, stdout: '', stderr });
  expect(readdirSync(folder)).toEqual([]);
});

// A team edits this file under pressure, and by scripts.
it('the settings file may be formatted in any way', () => {
  const override = { includes: [stagesFile], formatter: { enabled: false } };
  expect(biome.overrides).toEqual([override]);
});

const baseAddress = 'https://shop.example/v1';
it.each([
  [baseAddress, { baseAddress, customDomain }],
  ['https://api.petstore.example/v1', { customDomain }],
  [undefined, {}],
])('the settings give the base URL %s', (expected, settings) => {
  expect(findBaseAddress({ ...production, ...settings })).toBe(expected);
});

it('returns the documentation address unless it is an example', () => {
  const own = { documentationAddress: 'https://docs.shop.example' };
  expect(findDocumentationAddress(production)).toBeUndefined();
  expect(findDocumentationAddress({ ...production, ...own })).toBe(own.documentationAddress);
});

const reserve = (changed: Partial<StageSettings>, id: OperationId = 'listInventory') =>
  findReservedConcurrency({ ...production, ...changed }, id);

describe('of the account’s concurrency', () => {
  it.each([
    // Unknown, or that of a new account: any reservation fails the deployment.
    [{}, undefined],
    [{ accountConcurrency: 10 }, undefined],
    [{ accountConcurrency: 123 }, undefined],
    [{ accountConcurrency: 124 }, 24],
    [{ accountConcurrency: 1000 }, 200],
    [{ accountConcurrency: 1000, reservedConcurrency: { updateInventory: 700 } }, 200],
    [{ accountConcurrency: 1000, reservedConcurrency: { updateInventory: 701 } }, undefined],
    [{ accountConcurrency: 1000, reservedConcurrency: { listInventory: 7 } }, 7],
    [{ reservedConcurrency: { listInventory: 0 } }, 0],
  ] satisfies [Partial<StageSettings>, unknown][])(
    'with %j, lists may take %s',
    (changed, reserved) => expect(reserve(changed)).toBe(reserved),
  );

  it('nothing is reserved for quick operations, unless the settings say so', () => {
    expect(reserve({ accountConcurrency: 1000 }, 'updateInventory')).toBeUndefined();
    expect(reserve({ reservedConcurrency: { updateInventory: 0 } }, 'updateInventory')).toBe(0);
  });
});

/** What is wrong, without the beginning and the value that each line has: the synthesis above shows a whole one. */
function check({ name = 'production', ...changes }: Record<string, unknown>): string {
  try {
    checkStageSettings({ name: name as StageName, settings: change(changes) });
    return 'valid';
  } catch (error) {
    const [, problem] =
      /^infra\/stages\/stages\.ts: (.*?)(; it is .*)?\.$/.exec((error as Error).message) ?? [];
    return String(problem);
  }
}
