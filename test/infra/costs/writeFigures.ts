import { writeFileSync } from 'node:fs';
import {
  countedSettings,
  figuresFile,
  type MetricCounts,
  toCommittedFigures,
} from '../../../infra/costs/figures.ts';
import type { StageSettings } from '../../../infra/stages/stageSettings.ts';
import { stages } from '../../../infra/stages/stages.ts';
import { synthesizeStages } from '../../support/stackTemplates.ts';
import { fixtures } from '../../support/stageFixtures.ts';
import { countMetrics } from './countMetrics.ts';
import { page, toPage } from './page.ts';

/** What switches each setting on, in the order of `countedSettings`. Each builds on those before. */
const steps: Readonly<Record<(typeof countedSettings)[number], Partial<StageSettings>>> = {
  rollout: { rollout: 'canary10PercentFor5Minutes' },
  raisesAlarms: { raisesAlarms: true },
  checkEveryMinutes: { checkEveryMinutes: 5 },
  quietMinutes: { quietMinutes: 15 },
  // Without a reservation of none, streamed lists get one from the account's concurrency.
  accountConcurrency: { accountConcurrency: 1_000, reservedConcurrency: { listInventory: 0 } },
  reservedConcurrency: { reservedConcurrency: { listInventory: 50 } },
};

/** Counts the metrics that each setting adds to the stacks of a stage without any of them. */
function countBySetting(): MetricCounts {
  const count = (settings: StageSettings) =>
    countMetrics(synthesizeStages([{ ...fixtures.staging, settings }]).staging);
  let { settings } = fixtures.staging;
  let before = count(settings);
  const added = countedSettings.map((name) => {
    settings = { ...settings, ...steps[name] };
    const { alarmMetrics, customMetrics } = before;
    before = count(settings);
    return [
      name,
      {
        alarmMetrics: before.alarmMetrics - alarmMetrics,
        customMetrics: before.customMetrics - customMetrics,
      },
    ] as const;
  });
  return Object.fromEntries([
    ['always', count(fixtures.staging.settings)],
    ...added,
  ]) as MetricCounts;
}

const figures = toCommittedFigures(countBySetting(), Object.values(stages));
writeFileSync(figuresFile, `${JSON.stringify(figures, null, 2)}\n`);
writeFileSync(page, toPage(stages.production));
