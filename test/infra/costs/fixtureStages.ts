import { afterAll } from 'vitest';
import { stages } from '../../../infra/stages/stages.ts';
import { fixtureNames, fixtures } from '../../support/stageFixtures.ts';

/** Has the committed stages be the fixtures, to the end of the test file: their numbers stand in tests. */
export function useFixtureStages(): void {
  for (const name of fixtureNames) {
    const { settings } = stages[name];
    // In place, since the tests of a process share its modules.
    Object.assign(stages[name], { settings: fixtures[name].settings });
    afterAll(() => void Object.assign(stages[name], { settings }));
  }
}
