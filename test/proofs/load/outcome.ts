import type { Section } from '../../bench/report.ts';
import type { Vitals } from './contender.ts';

export interface Outcome {
  readonly section: Section;
  /** What makes the run a failure; speed does not, since it is the machine's too. */
  readonly problems: readonly string[];
}

/** What no contender may have had. */
export function toProblems(
  name: string,
  failures: number,
  { errorLines, firstError }: Vitals,
): string[] {
  return [
    ...(failures > 0 ? [`${name}: ${failures} requests had no answer of 2xx.`] : []),
    ...(errorLines > 0 ? [`${name}: ${errorLines} lines of level ERROR, first ${firstError}`] : []),
  ];
}
