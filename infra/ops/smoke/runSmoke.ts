import { getRandomValues } from 'node:crypto';
import type { commands } from '../../cli/commands.ts';
import { hideSecrets } from '../../cli/hideSecrets.ts';
import { listenForInterruption } from '../../cli/interruption.ts';
import { readLiveFunctions, toLiveText } from '../../cli/liveFunctions.ts';
import { print, toCount, toPlain } from '../../cli/output.ts';
import type { OptionValues } from '../../cli/program.ts';
import { readReleases } from '../../cli/releases.ts';
import { readOutput, readStack, type StageStack } from '../../cli/stageStack.ts';
import { UsageError } from '../../cli/usage.ts';
import { readCommit } from '../../stages/commit.ts';
import type { Stage } from '../../stages/stages.ts';
import { readCheckKey } from '../keys/checkKey.ts';
import { rows, Skip, type SmokeRun, type SmokeSettings } from './rows.ts';
import { defineSmokeClient, Mismatch, RunOver } from './smokeClient.ts';

export async function runSmoke(options: OptionValues<typeof commands.smoke>): Promise<void> {
  if (options['expect-commit'] && options.stage === undefined) {
    throw new UsageError('--expect-commit takes --stage, whose functions tell what is live.');
  }
  const { commits, stack, ...target } = await findTarget(options.stage, options['base-url']);
  const apiKey = await readApiKey(stack);
  print(`Checking ${target.baseUrl} …`);
  if (commits) print(`Live is ${commits.live}; this checkout is ${commits.checkout}.`);
  using interruption = listenForInterruption();
  const signal = AbortSignal.any([interruption.signal, AbortSignal.timeout(60_000)]);
  const passed = await checkStage({
    ...{ ...target, apiKey, signal, isLight: options.light ?? false, entry: options.entry },
    commits: options['expect-commit'] ? commits : undefined,
  });
  process.exitCode = interruption.status() || (passed ? 0 : 1);
}

/** Checks a stage and prints a line for each row. @returns whether no row failed */
export async function checkStage(
  settings: SmokeSettings,
  printLine: (line: string) => void = print,
): Promise<boolean> {
  const started = performance.now();
  const client = defineSmokeClient(settings);
  const missingId = `${getRandomValues(new BigInt64Array(1))[0]}`;
  const run: SmokeRun = { client, settings, missingId, lists: new Map() };
  const counts = { passed: 0, FAILED: 0, skipped: 0 };

  for (const [name, check] of Object.entries(rows)) {
    const error = await check(run).then(
      () => undefined,
      (reason: Error) => reason,
    );
    const outcome = !error ? 'passed' : error instanceof Skip ? 'skipped' : 'FAILED';
    const message = error && toPlain(hideSecrets(error.message));
    printLine(`${outcome.padEnd(7)}  ${name}${message ? `: ${message}` : ''}`);
    const isRefused = error instanceof Mismatch && error.status === 401 && counts.passed === 0;
    counts[outcome] += 1;
    if (error instanceof RunOver || isRefused) break;
  }
  const seconds = Math.ceil((performance.now() - started) / 1_000);
  const { passed, FAILED: failed, skipped } = counts;
  const { sent } = client.counts;
  printLine(
    `${toCount(passed, 'row')} passed, ${failed} failed, ${skipped} skipped; ${toCount(sent, 'request')} in ${seconds} s.`,
  );
  return counts.FAILED === 0;
}

async function findTarget(stage: Stage | undefined, address: string | undefined) {
  if ((stage === undefined) === (address === undefined)) {
    throw new UsageError('Give either --stage or --base-url. See --help.');
  }
  if (stage === undefined) {
    return { baseUrl: parseBaseUrl(address), throttles: undefined, origin: undefined };
  }
  const stack = await readStack(stage);
  const functions = await readLiveFunctions(stack, await readReleases(stack));
  const { throttles } = stage.settings;
  // Settings may be wrong here.
  const [origin = '*'] = [stage.settings.allowedOrigins].flat();
  return {
    stack,
    baseUrl: readOutput(stack, 'BaseUrl'),
    throttles,
    origin: origin === '*' ? 'https://smoke.invalid' : origin,
    commits: { live: toLiveText(functions), checkout: readCommit() },
  };
}

/** @throws {UsageError} when it is not a base address, or would send the key unencrypted */
function parseBaseUrl(text = ''): string {
  if (/^https?:[^?#]+\/v1$/.test(text) && (text.startsWith('https') || isLocal(text))) return text;
  throw new UsageError(
    `--base-url must be the https address of a stage, such as https://x.execute-api.eu-west-1.amazonaws.com/v1; it is "${text}".`,
  );
}

function isLocal(baseUrl: string): boolean {
  return /^(localhost|127\.0\.0\.1|\[::1\])$/.test(new URL(baseUrl).hostname);
}

/** The key in the environment, or that of the stage's check. Errors never contain it. */
async function readApiKey(stack: StageStack | undefined): Promise<string> {
  const given = process.env.PETSTORE_API_KEY || (stack && (await readCheckKey(stack)));
  const apiKey = given?.trim() ?? '';
  if (/^psk_[0-9A-Za-z]{42}$/.test(apiKey)) return apiKey;
  throw new UsageError(
    `The API key in PETSTORE_API_KEY must be psk_ and 42 letters and digits${stack ? `; npx petstore keys check --stage ${stack.stage.name} makes one that the stage keeps` : ''}.`,
  );
}
