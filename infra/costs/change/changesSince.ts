import { execFileSync } from 'node:child_process';
import { UsageError } from '../../cli/usage.ts';
import { parseUnits, readRecordedUnits } from '../units/recordedUnits.ts';
import { readCommittedTraffic } from './committedTraffic.ts';
import { findCostChanges } from './costChanges.ts';

/**
 * What a request costs now and did not at a commit, in sentences.
 * @param revision as git takes it
 * @throws {UsageError} when there is no such commit, or its units were not written down
 */
export function tellChangesSince(revision: string): string {
  const before = parseUnits(readFileAt(revision, 'infra/costs/units/units.json'));
  const changes = findCostChanges(before, readRecordedUnits(), readCommittedTraffic());
  if (changes.length === 0) return `No request costs more or less than at ${revision}.\n`;
  return `${changes.map((sentence) => `- ${sentence}`).join('\n')}\n`;
}

function readFileAt(revision: string, path: string): string {
  try {
    return execFileSync('git', ['show', '--end-of-options', `${revision}:${path}`], {
      cwd: new URL('../../..', import.meta.url),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 2 ** 26,
    });
  } catch {
    throw new UsageError(
      `git has no ${path} at ${JSON.stringify(revision)}; name a commit that has.`,
    );
  }
}
