import type { commands } from '../../cli/commands.ts';
import { writeOut } from '../../cli/output.ts';
import type { OptionValues } from '../../cli/program.ts';
import { openStage } from '../../cli/stageStack.ts';
import { isWhole, toNextStep, toValue } from './nextStep.ts';
import { toNightText } from './nightText.ts';
import { readNight } from './readNight.ts';

/** Shows the state of a stage. */
export async function runNight(options: OptionValues<typeof commands.night>): Promise<void> {
  const { stage } = options;
  const stack = await openStage(stage);
  const now = Date.now();
  const night = await readNight(stack, now);
  const next = toNextStep(stage, night);
  await writeOut(
    options.json
      ? `${JSON.stringify({ stage: stage.name, time: new Date(now).toISOString(), ...night, next }, null, 2)}\n`
      : toNightText(stage, night, next, now, process.stdout.columns ?? 80),
  );
  if (!isWhole(night) || toValue(night.alarms)?.firing.length !== 0) process.exitCode = 1;
}
