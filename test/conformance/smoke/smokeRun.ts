import { systemClock } from '../../../infra/ops/smoke/asking/clock.ts';
import { checkStage, type SmokeSettings } from '../../../infra/ops/smoke/checkStage.ts';

export interface SmokeRun {
  readonly passed: boolean;
  /** All that was printed. */
  readonly text: string;
  /** The lines about failures. */
  readonly failures: readonly string[];
}

/** Checks a stage in this process. */
export async function smoke(
  settings: Pick<SmokeSettings, 'baseUrl' | 'apiKey'> & Partial<SmokeSettings>,
): Promise<SmokeRun> {
  const lines: string[] = [];
  const defaults = {
    timeoutSeconds: 10,
    deadlineSeconds: 60,
    throttles: undefined,
    clock: systemClock,
    isLight: false,
    isVerbose: false,
    entry: undefined,
    origin: undefined,
    expectedCommit: undefined,
  };
  const passed = await checkStage({ ...defaults, ...settings }, (line) => lines.push(line));
  const failures = lines.filter((line) => line.startsWith('FAILED'));
  return { passed, text: lines.join('\n'), failures };
}
