import { type Stage, stageNames, stages, stagesForClients } from '../../../infra/stages/stages.ts';
import { fixtureNames, fixtures } from '../stageFixtures.ts';

// Vitest loads this before each test file, and the tests' own processes load it first. It replaces the stages of
// infra/stages/stages.ts by the fixtures, so that no test depends on a team's settings.

/** The stages of `infra/stages/stages.ts`, for the tests that check them. */
export const deployedStages: readonly Stage[] = Object.values(stages);

// In place, since all modules share these objects.
for (const name of stageNames) delete (stages as Record<string, unknown>)[name];
Object.assign(stages, fixtures);
stageNames.splice(0, deployedStages.length, ...fixtureNames);
(stagesForClients as Stage[]).splice(
  0,
  deployedStages.length,
  fixtures.production,
  fixtures.staging,
);
