import { getRandomValues } from 'node:crypto';
import { type AskingSettings, defineAsking } from './asking/asking.ts';
import type { LiveCommit } from './liveCommit.ts';
import { defineRedaction } from './redaction.ts';
import { defineReport } from './report.ts';
import type { RowGroup } from './rows/row.ts';
import { rowGroups } from './rows/rowGroups.ts';
import { runRows } from './runRows.ts';

export interface SmokeSettings extends AskingSettings {
  /** Whether the whole list is not to be read. */
  readonly isLight: boolean;
  /** Whether each row has a line. */
  readonly isVerbose: boolean;
  /** The petId of the entry that may be written. */
  readonly entry: string | undefined;
  /** An origin that the stage allows. */
  readonly origin: string | undefined;
  /** What has to be this checkout's. */
  readonly expectedCommit: LiveCommit | undefined;
}

/** Checks a stage and prints how it went. @returns whether all rows passed */
export async function checkStage(
  settings: SmokeSettings,
  print: (line: string) => void,
): Promise<boolean> {
  const { apiKey, isLight, isVerbose, entry, origin, expectedCommit } = settings;
  const started = performance.now();
  const redact = defineRedaction(apiKey);
  const report = defineReport((line) => print(redact(line)), isVerbose);
  using asking = defineAsking(settings);
  const [missingPetId = 0n] = getRandomValues(new BigInt64Array(1));
  const stage = { ...asking, apiKey, isLight, entry, found: { missingPetId, origin } };
  const groups = expectedCommit ? [toCommitGroup(expectedCommit), ...rowGroups] : rowGroups;
  await runRows(groups, stage, report);
  return report.finish(asking.sent(), (performance.now() - started) / 1_000);
}

function toCommitGroup({ is, text }: LiveCommit): RowGroup {
  const row = {
    name: 'is live',
    async check() {
      if (is !== 'same') throw new Error(`${text} Expected was this checkout's.`);
    },
  };
  return { name: 'this checkout', rows: [row] };
}
