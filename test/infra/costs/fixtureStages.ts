import { afterAll } from 'vitest';
import { stages } from '../../../infra/stages/stages.ts';
import { fixtureNames, fixtures } from '../../support/stageFixtures.ts';

/** Replaces the committed stages by the fixtures until the end of the test file, since tests have their numbers. */
export function useFixtureStages(): void {
  for (const name of fixtureNames) {
    const { settings } = stages[name];
    // In place, since the tests of a process share its modules.
    Object.assign(stages[name], { settings: fixtures[name].settings });
    afterAll(() => void Object.assign(stages[name], { settings }));
  }
}
