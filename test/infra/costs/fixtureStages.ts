import { afterAll } from 'vitest';
import type { StageSettings } from '../../../infra/stages/stageSettings.ts';
import { stages } from '../../../infra/stages/stages.ts';
import { type FixtureName, fixtureNames, fixtures } from '../../support/stageFixtures.ts';

/** Has the committed stages be the fixtures, to the end of the test file: their numbers stand in tests and in the page. */
export function useFixtureStages(): void {
  // In place, since the tests of a process share its modules.
  const set = (name: FixtureName, settings: StageSettings) =>
    Object.assign(stages[name], { settings });
  for (const name of fixtureNames) {
    const { settings } = stages[name];
    set(name, fixtures[name].settings);
    afterAll(() => void set(name, settings));
  }
}
