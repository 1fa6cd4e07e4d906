import { warnOfWorstMonth } from './costs/checkMonths.ts';
import { synthesize } from './deploy/buildApp.ts';
import { stages } from './stages/stages.ts';

// What a deployment may cost never stops it.
for (const { stage, templates } of await synthesize(Object.values(stages))) {
  warnOfWorstMonth(stage, templates);
}
