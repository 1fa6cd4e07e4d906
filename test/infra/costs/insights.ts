import { runCosts } from '../../../infra/ops/costs/runCosts.ts';
import { type Answers, AwsError, startAws } from '../ops/aws.ts';
import { callOps } from '../ops/opsProcess.ts';

type Row = Readonly<Record<string, string>>;

/** Rows as Logs Insights answers with them: all text, and sums of nothing left out. */
const functionRows: readonly Row[] = [
  toLine('getPet', '200', 'storefront', {
    lines: '3000000',
    milliseconds: '3.0E7',
    readUnits: '1500000',
    keyReadUnits: '10',
  }),
  toLine('getPet', '200', 'warehouse', {
    lines: '1000000',
    milliseconds: '30000000',
    readUnits: '500000',
  }),
  toLine('getPet', '401', '', { lines: '10000', milliseconds: '20000' }),
  toLine('updateInventory', '412', 'warehouse', {
    lines: '1000',
    milliseconds: '15000',
    readUnits: '1000',
    writeUnits: '1000',
    failedWrites: '1000',
  }),
  // 60,300,000 ms with 512 MB.
  toReport('getPet', { lines: '4010010', billed: '30873600000', traced: '40000' }),
  toReport('updateInventory', { lines: '1000', billed: '7680000', traced: '0' }),
];

const accessRows: readonly Row[] = [
  toAccess('GET', '/pets/{petId}', '200', '200', { lines: '4000000', sent: '1200000000' }),
  toAccess('GET', '/pets/{petId}', '401', '200', { lines: '10000', sent: '1000000' }),
  toAccess('GET', '/pets/{petId}', '502', '200', {
    lines: '10',
    sent: '800',
    milliseconds: '280000',
  }),
  toAccess('GET', '/pets/{petId}', '429', '-', { lines: '5000', sent: '400000' }),
  toAccess('OPTIONS', '/pets/{petId}', '204', '200', { lines: '2000', sent: '0' }),
  toAccess('PATCH', '/inventory/{petId}', '412', '200', { lines: '1000', sent: '80000' }),
];

/** What each log took in, in bytes. */
const logBytes: Readonly<Record<string, number>> = {
  '/aws/lambda/petstore-production-getPet': 3_609_009_000,
  '/aws/lambda/petstore-production-updateInventory': 900_000,
  '/aws/apigateway/petstore-production': 1_607_204_000,
};

interface Recorded {
  readonly functions?: readonly Row[];
  readonly access?: readonly Row[];
  /** Times the bytes of every log. */
  readonly volume?: number;
  /** What a query comes to. */
  readonly status?: string;
  /** How often a query that is asked for still runs. */
  readonly stillRuns?: number;
}

/** Production's stack and metrics, and CloudWatch Logs Insights. */
function defineInsights(recorded: Recorded = {}): Answers {
  const {
    functions = functionRows,
    access = accessRows,
    volume = 1,
    status = 'Complete',
    stillRuns = 0,
  } = recorded;
  const queries: { isAccess: boolean; asked: number }[] = [];
  return {
    DescribeStacks: () => ({ Stacks: [{ StackStatus: 'UPDATE_COMPLETE', Outputs: [] }] }),
    GetMetricData({ MetricDataQueries }) {
      const asked = MetricDataQueries as { Id: string; Label: string }[];
      return {
        // In two pieces, as values of several days are.
        MetricDataResults: asked.map(({ Id, Label }) => ({
          Id,
          Label,
          Values: [0.25, 0.75].map((share) => share * volume * (logBytes[Label] ?? 0)),
        })),
      };
    },
    StartQuery({ logGroupNames }) {
      const isAccess = String(logGroupNames).includes('apigateway');
      queries.push({ isAccess, asked: 0 });
      return { queryId: String(queries.length - 1) };
    },
    GetQueryResults({ queryId }) {
      const query = queries[Number(queryId)];
      if (!query) throw new AwsError('ResourceNotFoundException', 'There is no such query.');
      query.asked += 1;
      if (query.asked <= stillRuns) return { status: 'Running', results: [] };
      const rows = query.isAccess ? access : functions;
      return { status, results: rows.map(toFields) };
    },
    StopQuery: () => ({ success: true }),
  };
}

function toFields(row: Row): object[] {
  return Object.entries(row).map(([field, value]) => ({ field, value }));
}

function toLine(operation: string, status: string, keyName: string, sums: Row): Row {
  const log = `123456789012:/aws/lambda/petstore-production-${operation}`;
  return { '@log': log, operation, status, ...(keyName && { keyName }), ...sums };
}

function toReport(operation: string, sums: Row): Row {
  const log = `123456789012:/aws/lambda/petstore-production-${operation}`;
  return { '@log': log, type: 'platform.report', ...sums };
}

export function toAccess(
  method: string,
  route: string,
  status: string,
  functionStatus: string,
  sums: Row,
): Row {
  const log = '123456789012:/aws/apigateway/petstore-production';
  const further = { furtherRequests: '0', streamedBytes: '0' };
  return { '@log': log, route, method, status, functionStatus, ...further, ...sums };
}

export const november = ['--stage', 'production', '--from', '2026-11-01', '--to', '2026-11-30'];
/** When November's logs are all there, and August's are gone. */
export const december = Date.UTC(2026, 11, 5, 12);

export const byKey = (args: string[]) => runCosts(['--by-key', ...args]);

/** An AWS that answers as recorded, and the command on its November. */
export async function openAws(recorded: Recorded = {}, change: Answers = {}) {
  const aws = await startAws({ ...defineInsights(recorded), ...change });
  const variables = { ...aws.variables, AWS_REGION: 'us-east-1' };
  const run = (...args: string[]) => callOps(byKey, [...november, ...args], variables);
  const json = async (...args: string[]) => JSON.parse((await run('--json', ...args)).stdout);
  return { aws, variables, run, json };
}

/** What asks, as a process of its own, for the costs of today. */
export function toTodaysArgs(): string[] {
  const today = new Date().toISOString().slice(0, 10);
  return ['--by-key', '--stage', 'production', '--from', today, '--to', today];
}
