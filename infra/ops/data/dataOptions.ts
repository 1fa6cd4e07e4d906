import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import type { ResourceName } from '../../bulk/resources.ts';
import { openTable, type TableOptions } from '../../cli/tableOption.ts';

/** One attempt for each call, since the commands retry calls, and a socket for each concurrent call. */
const settings = {
  maxAttempts: 1,
  requestHandler: {
    connectionTimeout: 3_000,
    // An emulator on a busy machine takes its time over a page of a scan.
    requestTimeout: 30_000,
    throwOnRequestTimeout: true,
    httpAgent: { maxSockets: 100 },
    httpsAgent: { maxSockets: 100 },
  },
};

/** A table of a deployed stage or of an emulator. @throws {Error} when it does not exist */
export async function openDataTable(options: TableOptions, name: ResourceName) {
  const table = await openTable(name, options, settings);
  await table.client.send(new DescribeTableCommand({ TableName: table.tableName }));
  return table;
}
