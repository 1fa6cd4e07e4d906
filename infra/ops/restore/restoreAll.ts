import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { toSecond } from '../../cli/instant.ts';
import type { Patience } from './patience.ts';
import { checkRestorable } from './restorableTime.ts';
import {
  checkIsRestore,
  describeTable,
  startRestore,
  type TableRestore,
  waitUntilActive,
} from './tableRestore.ts';
import { setUpTable } from './tableSettings.ts';

/** Starts what has not been started yet, once it is certain that all of it can be. */
export async function startAll(
  client: DynamoDBClient,
  restores: readonly TableRestore[],
): Promise<void> {
  const missing: TableRestore[] = [];
  for (const restore of restores) {
    const table = await describeTable(client, restore.target);
    if (table) checkIsRestore(restore, table);
    else await checkRestorable(client, restore);
    if (!table) missing.push(restore);
  }
  for (const restore of missing) {
    await startRestore(client, restore);
    const { source, time, target } = restore;
    process.stderr.write(
      `Restoring ${source} as of ${toSecond(time)} into ${target}; that may take hours.\n`,
    );
  }
}

/** Waits for each, and gives it what its source has. */
export async function finishAll(
  client: DynamoDBClient,
  restores: readonly TableRestore[],
  patience: Patience,
): Promise<void> {
  for (const restore of restores) {
    await waitUntilActive(client, restore, patience);
    await setUpTable(client, restore, patience);
  }
}
