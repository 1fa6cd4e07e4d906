import { describeStack, useAws } from '../../ops/aws.ts';

export type Row = Readonly<Record<string, string>>;
const functionLog = '/aws/lambda/petstore-production-';
const accessLog = '/aws/apigateway/petstore-production';

export const toLine = (operation: string, status: string, keyName: string, sums: Row): Row => ({
  ...{ operation, status, ...(keyName && { keyName }), ...sums },
});
export const toReport = (operation: string, sums: Row): Row => ({
  ...{ '@log': `123456789012:${functionLog}${operation}`, type: 'platform.report' },
  ...sums,
});
export const toAccess = (
  request: string,
  status: string,
  functionStatus: string,
  sums: Row,
): Row => {
  const [method = '', route = ''] = request.split(' ');
  return { method, route, status, functionStatus, ...sums };
};

/** Rows as Logs Insights returns them: all text, without sums of nothing. */
export const functionRows: readonly Row[] = [
  toLine('listOrders', '200', 'storefront', {
    ...{ lines: '3000000', milliseconds: '3.0E7', readUnits: '1500000' },
  }),
  toLine('listOrders', '200', 'warehouse', {
    ...{ lines: '1000000', milliseconds: '30000000', readUnits: '500000' },
  }),
  toLine('listOrders', '401', '', { lines: '10000', milliseconds: '20000' }),
  toLine('updateInventory', '412', 'warehouse', {
    ...{ lines: '1000', milliseconds: '15000', readUnits: '1000', writeUnits: '1000' },
  }),
  // 60,300,000 ms with 512 MB.
  toReport('listOrders', { lines: '4010010', billed: '30873600000', traced: '40000' }),
  toReport('updateInventory', { lines: '1000', billed: '7680000', traced: '0' }),
];
const orders = 'GET /store/orders';
export const accessRows: readonly Row[] = [
  toAccess(orders, '200', '200', { lines: '4000000', sent: '1200000000' }),
  toAccess(orders, '401', '200', { lines: '10000', sent: '1000000' }),
  toAccess(orders, '502', '200', { lines: '10', sent: '800', milliseconds: '280000' }),
  toAccess(orders, '429', '-', { lines: '3000', sent: '240000' }),
  toAccess(orders, '429', '-', { lines: '2000', sent: '160000' }),
  toAccess('OPTIONS /store/orders', '204', '200', { lines: '2000', sent: '0' }),
  toAccess('PATCH /inventory/{petId}', '412', '200', { lines: '1000', sent: '80000' }),
];

/** The ingested bytes of each log. */
export const logBytes: Readonly<Record<string, number>> = {
  [`${functionLog}listOrders`]: 3_609_009_000,
  [`${functionLog}updateInventory`]: 900_000,
  [`${functionLog}getInventoryEntry`]: 2_000,
  [accessLog]: 1_607_204_000,
};

/** A fake AWS with production's metrics and logs, and the command on them. */
export async function openLogs({
  functions = functionRows,
  access = accessRows,
  /** A factor for the bytes of every log. */
  volume = 1,
  /** The final status of a query. */
  status = 'Complete',
  /** The number of log lines that a query found. */
  recordsMatched = 0,
} = {}) {
  const rows: Readonly<Record<string, readonly Row[]>> = { functions, access };
  /** Queries that are not ready at the first poll. */
  const running = new Set<unknown>(Object.keys(rows));
  const aws = await useAws({
    ...describeStack('petstore-production'),
    GetMetricData: ({ MetricDataQueries }) => ({
      // In two parts, like values of several days.
      MetricDataResults: (MetricDataQueries as { Label: string }[]).map(({ Label }) => {
        const bytes = volume * (logBytes[Label] ?? 0);
        return { Label, Values: [bytes / 4, (3 * bytes) / 4] };
      }),
    }),
    StartQuery: ({ logGroupNames }) => ({
      queryId: String(logGroupNames).includes('apigateway') ? 'access' : 'functions',
    }),
    GetQueryResults({ queryId }) {
      const unready = queryId === 'access' ? 'Scheduled' : 'Running';
      if (running.delete(queryId)) return { status: unready, results: [] };
      const toFields = (row: Row) =>
        Object.entries(row).map(([field, value]) => ({ field, value }));
      const statistics = { recordsMatched };
      return { status, statistics, results: rows[String(queryId)]?.map(toFields) };
    },
  });
  return aws;
}
