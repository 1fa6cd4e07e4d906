import type { CloudAssembly } from 'aws-cdk-lib/cx-api';
import { log } from './cli/output.ts';
import { checkWorstMonth } from './costs/bills/monthlyBill.ts';
import { countMetrics } from './costs/figures.ts';
import { buildApp, readTemplates, refuseFindings } from './deploy/buildApp.ts';
import { checkStageSettings, StageSettingsError } from './stages/checkStageSettings.ts';
import { CommitError } from './stages/commit.ts';
import { type Stage, stages } from './stages/stages.ts';

/**
 * Writes the templates of every deployment. Invalid settings end it with one line and status 1. What a deployment may
 * cost never stops it: a worst month past its limit is one line, and `npx petstore costs check` refuses it.
 */
export function synthesize(deployments: readonly Stage[] = Object.values(stages)): void {
  try {
    deployments.forEach(checkStageSettings);
    const app = buildApp(undefined, deployments);
    refuseFindings(app);
    const assembly = app.synth();
    for (const stage of deployments) warnOfWorstMonth(stage, assembly);
  } catch (error) {
    if (!(error instanceof StageSettingsError || error instanceof CommitError)) throw error;
    log(error.message);
    process.exitCode = 1;
  }
}

function warnOfWorstMonth(stage: Stage, assembly: CloudAssembly): void {
  try {
    const metrics = countMetrics(readTemplates(assembly, stage));
    const { isWithin, text } = checkWorstMonth({ ...stage, metrics });
    if (!isWithin) log(`Warning: ${text}`);
  } catch (error) {
    // Such as in a region whose prices nobody has looked up.
    log(`Warning: The worst month of ${stage.name} is not known. ${(error as Error).message}`);
  }
}
