import { apiKeyShape } from '../../../shared/keys/apiKey.ts';
import { hideSecrets } from '../../../shared/keys/hideSecrets.ts';
import type { commands } from '../../cli/commands.ts';
import { listenForInterruption } from '../../cli/interruption.ts';
import { findLiveCommits, readLiveFunctions } from '../../cli/liveFunctions.ts';
import { print, toCount, toPlain } from '../../cli/output.ts';
import { readReleases } from '../../cli/parameterStore.ts';
import type { OptionValues } from '../../cli/program.ts';
import { readOutput, readStack } from '../../cli/stageStack.ts';
import { UsageError } from '../../cli/usage.ts';
import { readCommit, unknownCommit } from '../../stages/commit.ts';
import { readCheckKey } from '../keys/checkKey.ts';
import { rows, Skip, type SmokeRun } from './rows.ts';
import { defineSmokeClient, Mismatch, type SmokeSettings } from './smokeClient.ts';

export async function runSmoke(options: OptionValues<typeof commands.smoke>): Promise<void> {
  const { stage, 'base-url': address, 'expect-commit': expectsCommit, light, entry } = options;
  if (!stage === !address || (expectsCommit && !stage)) {
    throw new UsageError('Give either --stage or --base-url; --expect-commit takes --stage.');
  }
  const stack = stage && (await readStack(stage));
  const live = stack && findLiveCommits(await readLiveFunctions(stack, await readReleases(stack)));
  const checkout = readCommit();
  const isOther = expectsCommit && (live !== checkout || live === unknownCommit);
  const baseUrl = stack ? readOutput(stack, 'BaseUrl') : `${address}`;
  const { PETSTORE_API_KEY: given } = process.env;
  const key = given || (stack && (await readCheckKey(stack)));
  const apiKey = key?.trim() ?? '';
  if (!apiKeyShape.test(apiKey)) {
    throw new UsageError(
      stage && !given
        ? `First run npx petstore keys check --stage ${stage.name}: the stage keeps no key for the smoke test yet. Or set one in PETSTORE_API_KEY.`
        : 'The API key in PETSTORE_API_KEY must be psk_ and 42 letters and digits.',
    );
  }
  // Settings may be wrong here.
  const [origin] = [stage?.settings.allowedOrigins ?? '*'].flat();
  print(`Checking ${baseUrl} …`);
  if (live) print(`${isOther ? 'FAILED   ' : ''}Live is ${live}; this checkout is ${checkout}.`);
  using interruption = listenForInterruption();
  const signal = AbortSignal.any([interruption.signal, AbortSignal.timeout(60_000)]);
  const passed = await checkStage({
    baseUrl,
    apiKey,
    signal,
    entry,
    isLight: light ?? false,
    origin: stage && (origin === '*' ? 'https://smoke.invalid' : origin),
  });
  process.exitCode = interruption.status() || (passed && !isOther ? 0 : 1);
}

/** Checks a stage and prints a line for each row. @returns whether no row failed */
export async function checkStage(settings: SmokeSettings, printLine = print): Promise<boolean> {
  const started = performance.now();
  const run: SmokeRun = { ...settings, ...defineSmokeClient(settings), items: [], ids: {} };
  const counts = { passed: 0, FAILED: 0, skipped: 0 };
  for (const [name, check] of Object.entries(rows)) {
    const error = await check(run).catch((reason: Error) => reason);
    const { aborted } = settings.signal;
    const outcome = !error ? 'passed' : error instanceof Skip ? 'skipped' : 'FAILED';
    const why = aborted ? 'The run was interrupted, or took longer than a minute.' : error?.message;
    printLine(`${outcome.padEnd(7)}  ${name}${error ? `: ${toPlain(hideSecrets(`${why}`))}` : ''}`);
    const isRefused = error instanceof Mismatch && error.status === 401 && counts.passed === 0;
    counts[outcome] += 1;
    if (isRefused || (outcome === 'FAILED' && !(error instanceof Mismatch))) break;
  }
  const { passed, FAILED, skipped } = counts;
  const summary = `${toCount(passed, 'row')} passed, ${FAILED} failed, ${skipped} skipped`;
  const seconds = Math.ceil((performance.now() - started) / 1_000);
  printLine(`${summary}; ${toCount(run.counts.sent, 'request')} in ${seconds} s.`);
  return FAILED === 0;
}
