import { getRandomValues } from 'node:crypto';
import { toCount } from '../../cli/progress.ts';
import { Mismatch } from './expectation.ts';
import { type Rows, rowGroups, Skip, type Stage } from './rows.ts';
import { defineSmokeClient, NoResponse, RunOver, type SmokeSettings } from './smokeClient.ts';

/** After so many requests without a response, the others are not waited for. */
const MAX_UNANSWERED = 3;

/**
 * Checks a stage and prints how it went: a line for each group of rows, and one for each cause of failures.
 * @returns whether no row failed
 */
export async function checkStage(
  settings: SmokeSettings,
  print: (line: string) => void,
): Promise<boolean> {
  const { apiKey, isVerbose } = settings;
  const started = performance.now();
  const client = defineSmokeClient(settings);
  const missingId = `${getRandomValues(new BigInt64Array(1))[0]}`;
  const stage: Stage = { client, settings, missingId, lists: new Map() };
  const total = { passed: 0, failed: 0, skipped: 0 };
  /** By topic: the first failure, and how many more rows it is likely to be behind. */
  const causes = new Map<string, { readonly line: string; others: number }>();
  let unanswered = 0;
  let stopped: string | undefined;

  function recordFailure(row: string, error: Error): void {
    const { answered } = client.counts;
    const isRefused = error instanceof Mismatch && error.status === 401 && answered === 1;
    const isSilent = error instanceof NoResponse;
    if (isSilent) unanswered += 1;
    if (error instanceof RunOver) stopped = 'the run is over';
    else if (isRefused) stopped = 'the key is refused';
    else if (isSilent && (answered === 0 || unanswered === MAX_UNANSWERED)) stopped = 'no answer';
    const topic = error instanceof Mismatch ? error.topic : isSilent ? error.name : error.message;
    const cause = causes.get(topic);
    if (cause) cause.others += 1;
    else causes.set(topic, { line: `FAILED   ${row}: ${error.message}`, others: 0 });
  }

  async function checkRow(row: string, check: Rows[string]): Promise<string> {
    if (stopped !== undefined) return `skipped: ${stopped}`;
    try {
      await check(stage);
      return 'passed';
    } catch (error) {
      if (error instanceof Skip) return `skipped: ${error.message}`;
      recordFailure(row, error as Error);
      return 'failed';
    }
  }

  for (const [group, rows] of Object.entries(rowGroups)) {
    const isPrinted = stopped === undefined && !isVerbose;
    const outcomes = new Map<string, number>();
    for (const [name, check] of Object.entries(rows)) {
      const outcome = await checkRow(`${group}: ${name}`, check);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      total[outcome.split(':')[0] as keyof typeof total] += 1;
      if (isVerbose) print(`${outcome.padEnd(7)}  ${group}: ${name}`);
    }
    const counts = [...outcomes].map(([outcome, count]) => `${count} ${outcome}`);
    if (isPrinted) print(`${group}: ${counts.join(', ')}`);
  }
  for (const { line, others } of causes.values()) {
    const more = others === 0 ? '' : ` The same in ${toCount(others, 'more row')}.`;
    print(hideKey(line, apiKey) + more);
  }
  const rows = `${toCount(total.passed, 'row')} passed, ${total.failed} failed, ${total.skipped} skipped`;
  const seconds = Math.ceil((performance.now() - started) / 1_000);
  print(`${rows}; ${toCount(client.counts.sent, 'request')} in ${seconds} s.`);
  return total.failed === 0;
}

/** Takes every trace of the key out of a text, also where a stage repeats it in another case or cut short. */
function hideKey(text: string, apiKey: string): string {
  const secret = apiKey.slice('psk_'.length);
  const traces = `psk_\\w*|\\w*(${secret.slice(0, 16)}|${secret.slice(-16)})\\w*`;
  return text.replace(new RegExp(traces, 'gi'), '[API key]');
}
