import type { commands } from '../../cli/commands.ts';
import { writeResult } from '../../cli/output.ts';
import type { OptionValues } from '../../cli/program.ts';
import { openStage } from '../../cli/stageStack.ts';
import { isWhole, toNextStep, toValue } from './nextStep.ts';
import { toNightText } from './nightText.ts';
import { readNight } from './readNight.ts';

export async function runNight(options: OptionValues<typeof commands.night>): Promise<void> {
  const { stage } = options;
  const stack = await openStage(stage);
  const now = Date.now();
  const night = await readNight(stack, now);
  const next = toNextStep(stage, night);
  const document = { stage: stage.name, time: new Date(now).toISOString(), ...night, next };
  const text = toNightText(stage, night, next, now, process.stdout.columns ?? 80);
  await writeResult(options, document, text);
  if (!isWhole(night) || toValue(night.alarms)?.firing.length !== 0) process.exitCode = 1;
}
