import { parseStage } from '../../cli/stageOption.ts';
import { readOutput, readStack } from '../../cli/stageStack.ts';
import { UsageError } from '../../cli/usage.ts';
import { readCommit } from '../../stages/commit.ts';
import { stages } from '../../stages/stages.ts';
import type { Throttles } from './asking/pace.ts';
import { compareCommits, type LiveCommit } from './liveCommit.ts';
import { isLocal, parseBaseUrl } from './smokeOptions.ts';

/** What is to be checked. */
export interface SmokeTarget {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  /** Nothing, where there are none. */
  readonly throttles: Throttles | undefined;
  /** An origin that the stage allows; nothing, where that has to be found out. */
  readonly origin: string | undefined;
  /** Nothing, for a stage that is known by its address alone. */
  readonly commit?: LiveCommit;
}

/**
 * A deployed stage, found through its stack's outputs, or an address.
 * @throws {UsageError} when it is not clear which stage is meant
 */
export async function findTarget(
  stageName: string | undefined,
  address: string | undefined,
): Promise<SmokeTarget> {
  if (stageName === undefined) return toTarget(parseBaseUrl('--base-url', address));
  if (address !== undefined) throw new UsageError('Give --stage or --base-url, not both.');
  const stage = parseStage(stageName);
  const stack = await readStack(stage);
  const { throttles, allowedOrigins } = stage.settings;
  return {
    baseUrl: parseBaseUrl('The output BaseUrl', readOutput(stack, 'BaseUrl')),
    throttles,
    origin: allowedOrigins.find((origin) => origin !== '*'),
    commit: compareCommits(stack.outputs.Commit, readCommit()),
  };
}

/** Which stage an address is of is not known: its requests come no faster than staging lets them through. */
function toTarget(baseUrl: string): SmokeTarget {
  const throttles = isLocal(new URL(baseUrl)) ? undefined : stages.staging.settings.throttles;
  return { baseUrl, throttles, origin: undefined };
}
