import { type Stage, stageNames, stages, stagesForClients } from '../../../infra/stages/stages.ts';
import { fixtureNames, fixtures } from '../stageFixtures.ts';

// Vitest loads this before each test file, and the tests' own processes load it first. It replaces the stages of
// infra/stages/stages.ts by the fixtures, so that no test depends on a team's settings.

// Vitest evaluates this again for each test file.
const shared = globalThis as { deployedStages?: readonly Stage[] };
shared.deployedStages ??= replaceStages();

/** The stages of `infra/stages/stages.ts`, for the tests that check them. */
export const { deployedStages } = shared;

/** In place, since all modules share these objects. */
function replaceStages(): readonly Stage[] {
  const deployed = Object.values(stages);
  for (const name of stageNames) delete (stages as Record<string, unknown>)[name];
  Object.assign(stages, fixtures);
  stageNames.splice(0, deployed.length, ...fixtureNames);
  const { production, staging } = fixtures;
  (stagesForClients as readonly Stage[] as Stage[]).splice(0, deployed.length, production, staging);
  return deployed;
}
