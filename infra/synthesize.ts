import { type App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { buildApp } from './buildApp.ts';
import { tell } from './cli/output.ts';
import { checkWorstMonth } from './costs/bills/monthlyBill.ts';
import { hasPrices } from './costs/prices.ts';
import { checkStageSettings, StageSettingsError } from './stages/checkStageSettings.ts';
import { CommitError } from './stages/commit.ts';
import { type Stage, stages } from './stages/stages.ts';

/**
 * Writes the templates of every deployment. Invalid settings, and a worst month past its limit, end it with one line
 * and status 1.
 */
export function synthesize(deployments: readonly Stage[] = Object.values(stages)): void {
  try {
    deployments.forEach(refuseWorstMonth);
    const app = buildApp(undefined, deployments);
    refuseFindings(app);
    app.synth();
  } catch (error) {
    if (!(error instanceof StageSettingsError || error instanceof CommitError)) throw error;
    tell(error.message);
    process.exitCode = 1;
  }
}

/** In a region without prices, such as after a disaster, only `npx petstore costs check` refuses. */
function refuseWorstMonth(stage: Stage): void {
  checkStageSettings(stage);
  if (!hasPrices(stage.settings.region)) return;
  const { isWithin, text } = checkWorstMonth(stage);
  if (!isWithin) throw new StageSettingsError(text);
}

/** Makes the synthesis fail at any finding of cdk-nag's AwsSolutions rules without a reason beside the resource. */
export function refuseFindings(app: App): void {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
}
