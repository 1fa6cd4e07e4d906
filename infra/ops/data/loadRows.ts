import type { Entry } from '../../bulk/resources.ts';
import { GROUP_SIZE, type WriteGroup } from '../../bulk/tableWriters.ts';
import { defineProgress } from '../../cli/progress.ts';
import type { CheckedFile } from './checkRows.ts';
import { type Row, readRows } from './dataFile.ts';

const GROUPS_UNDER_WAY = 3;

export interface LoadState {
  written: number;
  kept: number;
  /** Every row up to this line is in the table, or was left out on purpose. */
  line: number;
}

/**
 * Writes a file's rows to its table, all but those that `checkFiles` found invalid.
 * @param state kept up to date, so that it says where an interrupted or failed load was
 * @throws {Error} when a write fails for good, or the file has changed since it was checked
 */
export async function loadRows(
  checked: CheckedFile,
  writeGroup: WriteGroup,
  state: LoadState,
  signal: AbortSignal,
): Promise<void> {
  const { file, rows, invalid, seen } = checked;
  const progress = defineProgress(`Loading ${file}`, rows - invalid);
  const underWay: Promise<void>[] = [];
  let group: Entry[] = [];
  let left = 0;

  function isWanted(row: Row): row is Row & { entry: Entry } {
    const isValid = 'entry' in row && (seen?.firstLine(row.entry.id) ?? row.line) === row.line;
    if (!isValid) left += 1;
    if (left > invalid)
      throw new Error(`${file} has changed since it was checked, at line ${row.line}.`);
    return isValid;
  }

  async function write(entries: readonly Entry[], line: number, before?: Promise<void>) {
    if (entries.length > 0) {
      const { written, kept } = await writeGroup(entries.map(({ item }) => item));
      state.written += written;
      state.kept += kept;
    }
    progress.update(state.written + state.kept);
    await before;
    state.line = line;
  }

  async function start(line: number): Promise<void> {
    const writing = write(group, line, underWay.at(-1));
    // It is awaited later, which handles its failure.
    writing.catch(() => {});
    underWay.push(writing);
    group = [];
    if (underWay.length >= GROUPS_UNDER_WAY) await underWay.shift();
  }

  try {
    let line = 0;
    for await (const page of readRows(checked)) {
      for (const row of page.rows) {
        line = row.line;
        if (isWanted(row)) group.push(row.entry);
        if (group.length === GROUP_SIZE) await start(line);
        signal.throwIfAborted();
      }
    }
    await start(line);
    await Promise.all(underWay);
  } finally {
    await Promise.allSettled(underWay);
    progress.clear();
  }
}
