import { checkStage } from '../../../../infra/ops/smoke/checkStage.ts';
import type { SmokeSettings } from '../../../../infra/ops/smoke/smokeClient.ts';

export interface SmokeRun {
  readonly passed: boolean;
  /** All that was printed. */
  readonly text: string;
  /** The rows that came out so. */
  rowsThat(outcome: 'passed' | 'failed' | 'skipped'): string[];
  /** The lines about failures. */
  readonly failures: readonly string[];
}

/** Checks a stage in this process. */
export async function smoke(
  settings: Pick<SmokeSettings, 'baseUrl' | 'apiKey'> & Partial<SmokeSettings>,
): Promise<SmokeRun> {
  const lines: string[] = [];
  const defaults: Omit<SmokeSettings, 'baseUrl' | 'apiKey'> = {
    timeoutSeconds: 10,
    deadlineSeconds: 60,
    throttles: undefined,
    signal: new AbortController().signal,
    isLight: false,
    isVerbose: true,
    entry: undefined,
    origin: undefined,
    expectedCommit: undefined,
  };
  const passed = await checkStage({ ...defaults, ...settings }, (line) => lines.push(line));
  return {
    passed,
    text: lines.join('\n'),
    rowsThat: (outcome) =>
      lines.filter((line) => line.startsWith(outcome)).map((line) => line.replace(/^.*? {2,}/, '')),
    failures: lines.filter((line) => line.startsWith('FAILED')),
  };
}
