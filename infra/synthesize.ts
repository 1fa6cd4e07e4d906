import { buildApp, type StageTable } from './buildApp.ts';
import { StageSettingsError } from './checkStageSettings.ts';

/** Writes the templates of every deployment, or says in one line which setting is wrong, with status 1. */
export function synthesize(stageTable?: StageTable): void {
  try {
    buildApp(undefined, stageTable).synth();
  } catch (error) {
    if (!(error instanceof StageSettingsError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
