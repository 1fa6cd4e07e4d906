import { afterAll } from 'vitest';
import type { StageSettings } from '../../../infra/stages/stageSettings.ts';
import { type StageName, stages } from '../../../infra/stages/stages.ts';
import { mapOperations, operations } from '../../../shared/contract/operations.ts';

/** Stages as they were shipped, whose numbers tests and the costs' page know, whatever the committed ones are set to. */
const production: Partial<StageSettings> = {
  logRetentionDays: 90,
  raisesAlarms: true,
  checkEveryMinutes: 5,
  protectsData: true,
  throttles: {
    listInventory: { rate: 5, burst: 20 },
    updateInventory: { rate: 500, burst: 1000 },
    getPet: { rate: 500, burst: 1000 },
    listOrders: { rate: 50, burst: 100 },
    other: { rate: 100, burst: 200 },
  },
  rollout: 'canary10PercentFor5Minutes',
  firewall: false,
  owner: 'petstore team',
  tracing: { reservedPerSecond: 0, percent: 1 },
  inventoryEntries: 100_000,
  worstMonthDollars: 28_000,
  memoryMegabytes: mapOperations((id) => (operations[id].streamed ? 1024 : 512)),
};

const staging: Partial<StageSettings> = {
  raisesAlarms: false,
  protectsData: false,
  rollout: 'atOnce',
  firewall: false,
};

/** Has the stages be these, in no region of their own, from here to the end of the test file. */
export function useTestStages(): void {
  const { checkEveryMinutes: _, ...unchecked } = stages.staging.settings;
  const before = Object.entries(stages).map(([name, stage]) => [name, stage.settings] as const);
  setSettings('staging', bare({ ...unchecked, ...staging }));
  setSettings('production', bare({ ...stages.production.settings, ...production }));
  afterAll(() => {
    for (const [name, settings] of before) setSettings(name as StageName, settings);
  });
}

/** In place, since the tests of a process share its modules. */
function setSettings(name: StageName, settings: StageSettings): void {
  Object.assign(stages[name], { settings });
}

function bare(settings: StageSettings): StageSettings {
  const left = { ...settings } as { -readonly [Name in keyof StageSettings]: StageSettings[Name] };
  for (const name of optional) delete left[name];
  return left;
}

const optional = [
  'account',
  'accountConcurrency',
  'quietMinutes',
  'region',
  'reservedConcurrency',
] as const;
