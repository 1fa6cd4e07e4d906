import { parseStage } from '../../cli/stageOption.ts';
import { readOutput, readStack } from '../../cli/stageStack.ts';
import { UsageError } from '../../cli/usage.ts';
import { readCommit, unknownCommit } from '../../stages/commit.ts';
import { stages } from '../../stages/stages.ts';
import type { LiveCommit, SmokeSettings } from './smokeClient.ts';

/** Which stage is checked. */
export interface SmokeTarget extends Pick<SmokeSettings, 'baseUrl' | 'throttles' | 'origin'> {
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
  if (stageName === undefined) {
    const baseUrl = parseBaseUrl('--base-url', address);
    // Which stage it is of is not known: its requests come no faster than staging lets them through.
    const { throttles } = stages.staging.settings;
    return {
      baseUrl,
      throttles: isLocal(new URL(baseUrl).hostname) ? undefined : throttles,
      origin: undefined,
    };
  }
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

/** @throws {UsageError} when it is no base address, or a key would travel to it unprotected */
function parseBaseUrl(option: string, text: string | undefined): string {
  const url = text === undefined ? null : URL.parse(text);
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocal(url.hostname));
  if (url && isSafe && /\/v1\/?$/.test(url.pathname) && url.search === '' && url.hash === '') {
    return `${url.origin}${url.pathname.replace(/\/$/, '')}`;
  }
  throw new UsageError(
    `${option} must be the https address of a stage, such as https://x.execute-api.eu-west-1.amazonaws.com/v1${text === undefined ? '' : `; it is "${text}"`}.`,
  );
}

/** @param live what the stack says, if it does */
function compareCommits(live: string | undefined, checkout: string): LiveCommit {
  if (live === undefined || live === unknownCommit) {
    return { is: 'not known', text: 'The commit that is live is not known.' };
  }
  if (checkout === unknownCommit) {
    return { is: 'not known', text: `Live is ${live}; this checkout's commit is not known.` };
  }
  return live === checkout
    ? { is: 'same', text: `Live is ${live}, as is this checkout.` }
    : { is: 'another', text: `Live is ${live}, but this checkout is ${checkout}.` };
}

/** Whether it is this machine. */
function isLocal(hostname: string): boolean {
  return /^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname);
}
