import { once } from 'node:events';
import type { commands } from '../cli/commands.ts';
import { listenForInterruption } from '../cli/interruption.ts';
import { print } from '../cli/output.ts';
import type { OptionValues } from '../cli/program.ts';
import { UsageError } from '../cli/usage.ts';
import { share } from '../cli/values.ts';
import { tableNames } from '../stages/tables.ts';
import { startEmbeddedEngine } from './engine/engine.ts';
import { type InjectedFailure, injectedStatuses } from './gateway/faultInjection.ts';
import { useLambdaConsole } from './lambdaRuntime.ts';
import { startLocalStage } from './localStage.ts';
import { readStoreData } from './storeData.ts';

const sample = new URL('sample.json', import.meta.url);

type StartOptions = OptionValues<typeof commands.start>;

/** Runs the local stage until it is interrupted. */
export async function start(options: StartOptions): Promise<void> {
  const { port, data: file, dir, enginePort, faultInjection } = parseOptions(options);
  // Never disposed of: npm's echo of a Ctrl-C may arrive after everything is closed.
  const { signal: stop } = listenForInterruption();
  useLambdaConsole();
  const data = await readStoreData(file ?? sample);
  try {
    const stage = await startLocalStage({
      port,
      dir,
      enginePort,
      startEngine: startEmbeddedEngine,
      data,
      onlyIfNew: file === undefined,
      signal: stop,
      faultInjection,
    });
    const { baseUrl, documentationAddress, apiKey, readKey, engineEndpoint } = stage;
    // In one write, so that a reader of the address has the rest too.
    print(
      [
        `Base URL: ${baseUrl}`,
        `API key: ${apiKey}`,
        `Try it: echo 'Authorization: Bearer ${apiKey}' | curl -H @- ${baseUrl}/inventory`,
        `Read key: ${readKey}`,
        `Documentation: ${documentationAddress}/`,
        ...(enginePort === undefined
          ? []
          : [`DynamoDB: ${engineEndpoint}, with the tables ${tableNames.join(', ')}`]),
      ].join('\n'),
    );
    if (!stop.aborted) await once(stop, 'abort');
    await stage.close();
  } catch (error) {
    if (!stop.aborted || (error as Error).name !== 'AbortError') throw error;
  }
}

/**
 * Ports of 0 let the system pick one.
 * @throws {UsageError} when the arguments are invalid
 */
export function parseOptions(options: StartOptions) {
  const { port, data, dir, fail = [], delay, lose, throttle } = options;
  const { 'expose-dynamodb': enginePort } = options;
  return {
    data,
    dir,
    port,
    enginePort,
    faultInjection: {
      failures: parseFailures(fail),
      delayMilliseconds: delay,
      lostShare: lose,
      ...(throttle && { throttles: throttle.settings.throttles }),
    },
  };
}

function parseFailures(texts: readonly string[]): InjectedFailure[] {
  const known = injectedStatuses.join(', ');
  const rule = `such as 503:0.1, with a share from 0 to 1 and one of ${known}`;
  const failures = texts.map((text) => {
    const [typed, part = ''] = text.split(/(?<=^\d{3}):/);
    const found = { status: Number(typed), share: share.parse(part) ?? Number.NaN };
    if (injectedStatuses.includes(found.status) && found.share >= 0) return found;
    throw new UsageError(`Option '--fail' must be ${rule}, not '${text}'`);
  });
  // Rounded, since 0.1 and 0.2 are not exact.
  const sum = Number(failures.reduce((all, { share }) => all + share, 0).toFixed(9));
  if (sum <= 1) return failures;
  throw new UsageError(`The shares of '--fail' must add up to at most 1, not ${sum}`);
}
