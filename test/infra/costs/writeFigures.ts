import { readFileSync, writeFileSync } from 'node:fs';
import {
  countedSettings,
  figuresFile,
  type MetricCounts,
  toCommittedFigures,
} from '../../../infra/costs/figures.ts';
import type { StageSettings } from '../../../infra/stages/stageSettings.ts';
import { stages, stagesForClients } from '../../../infra/stages/stages.ts';
import { synthesizeStages } from '../../support/stackTemplates.ts';
import { fixtures } from '../../support/stageFixtures.ts';
import { countMetrics, toFigures } from './figures.ts';

/** What switches each setting on, in the order of `countedSettings`. Each builds on those before. */
const steps: Readonly<Record<(typeof countedSettings)[number], Partial<StageSettings>>> = {
  rollout: { rollout: 'canary10PercentFor5Minutes' },
  raisesAlarms: { raisesAlarms: true },
  checkEveryMinutes: { checkEveryMinutes: 5 },
  quietMinutes: { quietMinutes: 15 },
  // Without a reservation of none, streamed lists get one from the account's concurrency.
  accountConcurrency: { accountConcurrency: 1_000, reservedConcurrency: { listInventory: 0 } },
  firewall: { firewall: true },
};

/** Counts what each setting adds to the stacks of a stage that has none of them. */
function countBySetting(): MetricCounts {
  let { settings } = fixtures.staging;
  let before = { alarmMetrics: 0, compositeAlarms: 0, customMetrics: 0 };
  const add = (changes: Partial<StageSettings> = {}) => {
    settings = { ...settings, ...changes };
    const { alarmMetrics, compositeAlarms, customMetrics } = before;
    before = countMetrics(synthesizeStages([{ ...fixtures.staging, settings }]).staging);
    return {
      alarmMetrics: before.alarmMetrics - alarmMetrics,
      compositeAlarms: before.compositeAlarms - compositeAlarms,
      customMetrics: before.customMetrics - customMetrics,
    };
  };
  const always = add();
  const added = countedSettings.map((name) => [name, add(steps[name])] as const);
  const reservation = add({ reservedConcurrency: { listInventory: 50 } });
  return { always, ...Object.fromEntries(added), reservation } as MetricCounts;
}

const figures = toCommittedFigures(countBySetting(), Object.values(stages));
writeFileSync(figuresFile, `${JSON.stringify(figures, null, 2)}\n`);
const page = new URL('../../../infra/costs/README.md', import.meta.url);
const text = readFileSync(page, 'utf8').replace(
  /(<!-- figures -->\n)[\s\S]*(<!-- end -->)/,
  (_, start, end) => `${start}\n${toFigures(stagesForClients[0])}\n\n${end}`,
);
writeFileSync(page, text);
