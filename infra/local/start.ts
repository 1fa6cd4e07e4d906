import { once } from 'node:events';
import type { commands } from '../cli/commands.ts';
import { listenForInterruption } from '../cli/interruption.ts';
import { print } from '../cli/output.ts';
import type { OptionValues } from '../cli/program.ts';
import { defineProgress } from '../cli/progress.ts';
import { UsageError } from '../cli/usage.ts';
import { stages } from '../stages/stages.ts';
import { tableNames } from '../stages/tables.ts';
import { defineEngineThread } from './engine/engineThread.ts';
import { type InjectedFailure, injectedStatuses } from './gateway/faultInjection.ts';
import { useLambdaConsole } from './lambdaRuntime.ts';
import { readStoreData } from './storeData.ts';

const sample = new URL('sample.json', import.meta.url);

type StartOptions = OptionValues<typeof commands.start>;

/** Runs the local stage until it is interrupted. */
export async function start(options: StartOptions): Promise<void> {
  const { port, data: file, dir, enginePort, faultInjection } = parseOptions(options);
  // Never disposed of: npm's echo of a Ctrl-C may arrive after everything is closed.
  const { signal: stop } = listenForInterruption();
  useLambdaConsole();
  const { startEngine, crash } = defineEngineThread();
  // This loads while the thread loads.
  const { startLocalStage } = await import('./localStage.ts');
  const data = await readStoreData(file ?? sample);
  const count = data.inventory.length + data.pets.length + data.orders.length;
  using progress = defineProgress(`Loading ${file ?? 'the sample'}`, count);

  async function serve(): Promise<void> {
    const stage = await startLocalStage({
      port,
      dir,
      enginePort,
      startEngine,
      data,
      onlyIfNew: file === undefined,
      signal: stop,
      onProgress: progress.update,
      faultInjection,
    });
    progress.clear();
    const { baseUrl, documentationAddress, apiKey, readKey, engineEndpoint } = stage;
    // In one write, so that a reader of the address has the rest too.
    print(
      [
        `Base address: ${baseUrl}`,
        `API key: ${apiKey}`,
        `Try it: curl -H 'Authorization: Bearer ${apiKey}' ${baseUrl}/inventory`,
        `Read key: ${readKey}`,
        `Documentation: ${documentationAddress}/`,
        ...(enginePort === undefined
          ? []
          : [`DynamoDB: ${engineEndpoint}, with the tables ${tableNames.join(', ')}`]),
      ].join('\n'),
    );
    if (!stop.aborted) await once(stop, 'abort');
    await stage.close();
  }

  try {
    await Promise.race([serve(), crash]);
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
    port: parsePort('--port', port),
    ...(enginePort !== undefined && { enginePort: parsePort('--expose-dynamodb', enginePort) }),
    faultInjection: {
      failures: parseFailures(fail),
      delayMilliseconds: parseDelay(delay),
      lostShare: parseLostShare(lose),
      ...(throttle !== undefined && { throttles: stages[throttle].settings.throttles }),
    },
  };
}

function parsePort(option: string, text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  return port <= 65_535 ? port : refuse(option, 'a number from 0 to 65535', text);
}

/** A share from 0 to 1. */
const SHARE = /^(?:0?\.\d+|[01](?:\.0+)?)$/;

function parseFailures(texts: readonly string[]): InjectedFailure[] {
  const known = injectedStatuses.join(', ');
  const rule = `such as 503:0.1, with a share from 0 to 1 and one of ${known}`;
  const failures = texts.map((text) => {
    const [status, share = ''] = text.split(/(?<=^\d{3}):/);
    const isValid = injectedStatuses.includes(Number(status)) && SHARE.test(share);
    return isValid
      ? { status: Number(status), share: Number(share) }
      : refuse('--fail', rule, text);
  });
  // Rounded, since 0.1 and 0.2 are not exact.
  const sum = Number(failures.reduce((all, { share }) => all + share, 0).toFixed(9));
  if (sum <= 1) return failures;
  throw new UsageError(`The shares of '--fail' must add up to at most 1, not ${sum}`);
}

function parseLostShare(text: string): number {
  const rule = 'a share from 0 to 1, such as 0.1';
  return SHARE.test(text) ? Number(text) : refuse('--lose', rule, text);
}

/** In milliseconds, at most the gateway's timeout for a function. */
function parseDelay(text: string): number {
  const [, count, unit] = /^(\d{1,5})(ms|s)$/.exec(text) ?? [];
  const delay = Number(count) * (unit === 's' ? 1_000 : 1);
  return delay <= 29_000 ? delay : refuse('--delay', 'such as 200ms or 2s, up to 29s', text);
}

function refuse(option: string, rule: string, text: string): never {
  throw new UsageError(`Option '${option}' must be ${rule}, not '${text}'`);
}
