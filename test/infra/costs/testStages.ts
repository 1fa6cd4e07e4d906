import type { StageSettings } from '../../../infra/stages/stageSettings.ts';
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

type StagesModule = typeof import('../../../infra/stages/stages.ts');

/** The module of the stages with these, in no region of their own: what `vi.mock` puts in its place. */
export function withTestStages(module: StagesModule): StagesModule {
  const { checkEveryMinutes: _, ...unchecked } = module.stages.staging.settings;
  const stages = {
    ...module.stages,
    staging: { name: 'staging', settings: bare({ ...unchecked, ...staging }) },
    production: {
      name: 'production',
      settings: bare({ ...module.stages.production.settings, ...production }),
    },
  } as const;
  return { ...module, stages };
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
