import { getRandomValues } from 'node:crypto';
import { toCount } from '../../cli/progress.ts';
import { rows, Skip, type SmokeSettings, type Stage } from './rows.ts';
import { defineSmokeClient, Mismatch, RunOver } from './smokeClient.ts';

/** Checks a stage and prints a line for each row. @returns whether no row failed */
export async function checkStage(
  settings: SmokeSettings,
  print: (line: string) => void,
): Promise<boolean> {
  const started = performance.now();
  const client = defineSmokeClient(settings);
  const missingId = `${getRandomValues(new BigInt64Array(1))[0]}`;
  const stage: Stage = { client, settings, missingId, lists: new Map() };
  const counts = { passed: 0, FAILED: 0, skipped: 0 };

  for (const [name, check] of Object.entries(rows)) {
    const error = await check(stage).then(
      () => undefined,
      (reason: Error) => reason,
    );
    const outcome = !error ? 'passed' : error instanceof Skip ? 'skipped' : 'FAILED';
    print(toPlain(`${outcome.padEnd(7)}  ${name}${error ? `: ${error.message}` : ''}`));
    const isRefused = error instanceof Mismatch && error.status === 401 && counts.passed === 0;
    counts[outcome] += 1;
    if (error instanceof RunOver || isRefused) break;
  }
  const seconds = Math.ceil((performance.now() - started) / 1_000);
  const sent = toCount(client.counts.sent, 'request');
  print(
    `${toCount(counts.passed, 'row')} passed, ${counts.FAILED} failed, ${counts.skipped} skipped; ${sent} in ${seconds} s.`,
  );
  return counts.FAILED === 0;
}

/** One line without a key and without control characters, which a terminal would obey. */
function toPlain(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ').replace(/psk_\w*/gi, '[API key]');
}
