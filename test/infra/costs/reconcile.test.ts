import { gzipSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { toMonth, toStagePricing } from '../../../infra/costs/bills/monthlyBill.ts';
import { readCommittedTraffic, sumRequests } from '../../../infra/costs/bills/traffic.ts';
import { runCosts } from '../../../infra/ops/costs/runCosts.ts';
import { type Reconciliation, toModelledUsage } from '../../../infra/ops/costs/runReconcile.ts';
import { changeProduction, fixtures } from '../../support/stageFixtures.ts';
import { openTemporaryFolder } from '../../support/temporaryFolder.ts';
import { callOps, expectRefusal } from '../ops/opsProcess.ts';
import { useFixtureStages } from './fixtureStages.ts';

useFixtureStages();

const folder = openTemporaryFolder();
const write = (name: string, content: string | Uint8Array) =>
  folder.write(name, name.endsWith('.gz') ? gzipSync(content) : content);
afterEach(() => void vi.unstubAllEnvs());

/** The columns of each kind of export, among them one that nobody asks for. */
const columns = {
  'CUR 2.0': [
    ...['identity_line_item_id', 'line_item_product_code', 'line_item_usage_type'],
    ...['line_item_usage_amount', 'line_item_unblended_cost', 'line_item_line_item_type'],
    ...['line_item_usage_start_date', 'resource_tags'],
  ],
  FOCUS: [
    ...['ChargeDescription', 'ServiceName', 'x_UsageType', 'ConsumedQuantity', 'BilledCost'],
    ...['ChargeCategory', 'ChargePeriodStart', 'Tags'],
  ],
} as const;
type Format = keyof typeof columns;

/** The cells of a line, in the order of the columns. */
type Line = readonly [...unknown[], start: string, tags: Readonly<Record<string, string>>];

function toLine(
  service: string,
  usageType: string,
  quantity: number,
  dollars: number,
  {
    kind = 'Usage',
    start = '2026-11-07T10:00:00Z',
    tags = { user_stage: 'production' } as Readonly<Record<string, string>>,
  } = {},
): Line {
  return ['a,"b"', service, usageType, quantity, dollars, kind, start, tags];
}

function toCsv(format: Format, lines: readonly Line[]): string {
  const toCell = (cell: unknown) => {
    const text = typeof cell === 'object' ? JSON.stringify(cell) : String(cell);
    return `"${text.replaceAll('"', '""')}"`;
  };
  return [columns[format], ...lines].map((cells) => cells.map(toCell).join(',')).join('\r\n');
}

/** In row groups of two, with times and tags as such. */
function toParquet(format: Format, lines: readonly Line[]): Uint8Array {
  const columnData = columns[format].map((name, index) => ({
    name,
    data: lines.map((cells) => (index === 6 ? new Date(String(cells[index])) : cells[index])),
  }));
  return new Uint8Array(parquetWriteBuffer({ columnData, rowGroupSize: 2 }));
}

const gigabyteSeconds = 3e6 * 0.005 + 8_760 * 0.25;
const billedSeconds = gigabyteSeconds / 1.1;
const another = { stage: 'production', service: 'another' };
/**
 * What 2,000,000 getPet and 1,000,000 updateInventory are billed by, worked out by hand, but for calls that
 * were a tenth shorter than assumed, a gigabyte that was cheaper, and queues that the model does not have.
 * Services have the names of a Cost and Usage Report and those of FOCUS, and tags what AWS puts before them, or not.
 */
const bill: readonly Line[] = [
  toLine('AmazonApiGateway', 'USE1-ApiGatewayRequest', 2e6, 7),
  toLine('Amazon API Gateway', 'USE1-ApiGatewayRequest', 1e6, 3.5, {
    tags: { stage: 'production', 'user:service': 'petstore' },
  }),
  toLine('AWSLambda', 'Request-ARM', 3_008_760, 0.601752),
  // Of calls of 10 ms with half a GB, and checks of a second with a quarter.
  toLine('AWS Lambda', 'Lambda-GB-Second-ARM', billedSeconds, billedSeconds * 0.0000133334),
  // Half a unit each, and of each function the key's record once a minute of 730 hours.
  toLine('AmazonDynamoDB', 'ReadRequestUnits', 1e6 + 2 * 43_800, 1.0876 * 0.125),
  toLine('Amazon DynamoDB', 'WriteRequestUnits', 1e6, 0.625),
  toLine('awskms', 'us-east-1-KMS-Keys', 0.5, 0.5),
  toLine('AWS Key Management Service', 'USE1-KMS-Keys', 0.5, 0.5),
  toLine('AmazonCloudWatch', 'USE1-DataProcessing-Bytes', 1, 0.5),
  toLine('AmazonCloudWatch', 'USE1-VendedLog-Bytes', 2, 1),
  toLine('AmazonApiGateway', 'USE1-DataTransfer-Out-Bytes', 2, 0.17),
  toLine('AmazonCloudWatch', 'USE1-TimedStorage-ByteHrs', 5, 0.15),
  toLine('AmazonApiGateway', 'USE1-ApiGatewayRequest', 0, -2, { kind: 'Credit' }),
  toLine('AmazonApiGateway', 'USE1-ApiGatewayRequest', 9e6, 31.5, { tags: { stage: 'staging' } }),
  toLine('AmazonApiGateway', 'USE1-ApiGatewayRequest', 9e6, 0.1, { tags: another }),
  toLine('AmazonS3', 'TimedStorage-ByteHrs', 10, 0.23, { tags: {} }),
];

const traffic = ['--requests', 'getPet=2M,updateInventory=1M'];
const reconcileFile = (file: string, ...args: string[]) =>
  callOps(runCosts, ['--reconcile', file, ...args]);

async function read(file: string, ...args: string[]) {
  const { status, stdout, stderr } = await reconcileFile(file, ...traffic, '--json', ...args);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const found: Reconciliation = JSON.parse(stdout);
  const of = (usageType: string) => found.usage.find((usage) => usage.usageType === usageType);
  return { found, of };
}

describe('npm run costs -- --reconcile', () => {
  it.each([
    ['CUR 2.0', 'bill.csv', toCsv],
    ['CUR 2.0', 'bill.snappy.parquet', toParquet],
    ['FOCUS', 'bill.csv.gz', toCsv],
    ['FOCUS', 'bill.parquet', toParquet],
  ] as const)('finds in %s, %s, what is right, wrong, and not in the model', async (...row) => {
    const [format, name, toContent] = row;
    const { found, of } = await read(write(name, toContent(format, bill)));
    const exact = ['ApiGatewayRequest', 'Request-ARM', 'ReadRequestUnits', 'WriteRequestUnits'];
    const none = expect.closeTo(0, 6);
    for (const usageType of [...exact, 'KMS-Keys']) {
      const errors = { quantityError: none, priceError: none, dollarsError: none };
      expect(of(usageType), usageType).toMatchObject(errors);
    }
    expect(of('ApiGatewayRequest')?.billed).toEqual({ quantity: 3e6, dollars: 10.5 });
    const longer = { quantityError: expect.closeTo(10, 6), priceError: none };
    expect(of('Lambda-GB-Second-ARM')).toMatchObject(longer);
    expect(of('DataTransfer-Out-Bytes')?.priceError).toBeCloseTo(100 * (0.09 / 0.085 - 1), 6);
    expect(of('DataProcessing-Bytes')?.billed).toEqual({ quantity: 3, dollars: 1.5 });
    expect(of('RequestV2-Tier1')).toBeUndefined();
    expect(of('CW:AlarmMonitorUsage')).not.toHaveProperty('quantityError');
    expect(of('CW:AlarmMonitorUsage')?.billed).toEqual({ quantity: 0, dollars: 0 });
    const toTexts = (all: Reconciliation['others']) =>
      all.map(({ usageType, dollars }) => [usageType, dollars]);
    expect(toTexts(found.unexplained)).toEqual([['ApiGatewayRequest (Credit)', -2]]);
    expect(toTexts(found.others)).toEqual([
      ['ApiGatewayRequest', 31.6],
      ['TimedStorage-ByteHrs', 0.23],
    ]);
  });

  it('prints the errors in per cent, and the sums of what it cannot explain', async () => {
    const more = Array.from({ length: 12 }, (_, index) =>
      toLine('AmazonS3', `Other${index}`, 1, 0.01, { tags: { stage: 'other' } }),
    );
    const file = write('bill.csv', toCsv('FOCUS', [...bill, ...more]));
    const { stdout } = await reconcileFile(file, ...traffic);
    const [usage, sums, unexplained, others] = stdout.split('\n\n');
    expect(usage?.split('\n').map((line) => line.split(/ {2,}/))).toContainEqual([
      ...['Lambda-GB-Second-ARM', 'GB-seconds', '15,627.3', '17,190', '+10.0 %', '+0.0 %'],
      ...['0.21', '0.23', '+10.0 %'],
    ]);
    expect(sums).toMatch(/^All of these: \$14\.89 billed, \$2\d\.\d\d modelled, \+\d\d\.\d %$/);
    expect(unexplained).toMatch(
      /^Not explained: \$-2\.00\nAmazonApiGateway +ApiGatewayRequest \(Credit\) /,
    );
    expect(others?.trimEnd().split('\n')).toHaveLength(1 + 10);
    expect(others).toMatch(/^Not this service.*\nAmazonApiGateway +ApiGatewayRequest .*\$31\.60\n/);
  });

  it('takes the days that are asked for, and of what is billed by the month their part', async () => {
    vi.stubEnv('TZ', 'Asia/Tokyo');
    const billed = (
      [
        ['2026-11-01T23:59:59Z', 1],
        ['2026-11-02 00:00:00.000', 10],
        ['2026-11-04T23:00:00+00:00', 100],
        ['2026-11-05T00:00:00Z', 1_000],
      ] as const
    ).map(([start, quantity]) =>
      toLine('AmazonApiGateway', 'ApiGatewayRequest', quantity, quantity * 3.5e-6, { start }),
    );
    const file = write('bill.csv', toCsv('FOCUS', billed));
    const { of } = await read(file, '--from', '2026-11-02', '--to', '2026-11-04');
    expect(of('ApiGatewayRequest')?.billed.quantity).toBe(110);
    expect(of('KMS-Keys')?.modelled.quantity).toBeCloseTo(0.1, 9);
    expect((await read(file)).of('ApiGatewayRequest')?.billed.quantity).toBe(1_111);
  });

  it('models the committed traffic unless another is given', async () => {
    const { stdout } = await reconcileFile(write('bill.csv', toCsv('FOCUS', bill)), '--json');
    const requests = sumRequests(readCommittedTraffic());
    expect(JSON.parse(stdout).usage[0].modelled.quantity).toBe(requests);
  });

  const lines = toCsv('FOCUS', bill).split('\r\n');
  it.each([
    [['a,b', '1,2'], 'row 1: it has no column line_item_product_code or servicename.'],
    [['ServiceName,Tags'], 'it has no column line_item_usage_type or x_usagetype or skumeter.'],
    [[...lines.slice(0, 3), 'x,y'], 'at row 3: it has not as many fields as the first line.'],
    [[...lines.slice(0, 5), 'x,"y'], 'at row 5: it has not as many fields'],
    [lines.slice(0, 3).map((line) => line.replace('"1000000"', '"2,0"')), 'row 2: "2,0" is no num'],
    [lines.slice(0, 2).map((line) => line.replace('2026-', '')), 'is no number or time.'],
    [
      [...lines.slice(0, 2), 'x'.repeat(409_601)],
      'bill.csv cannot be read: line 3 is longer than any record.\n',
    ],
    [[''], 'it has no rows.'],
  ])('ends at what it cannot read: %#', async (text, reason) => {
    const { status, stdout, stderr } = await reconcileFile(write('bill.csv', text.join('\n')));
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain(reason);
    expect(stderr).toMatch(/^\S+bill\.csv cannot be read[^\n]+\n$/);
  });

  it.each([
    [['--stage', 'nowhere'], '--stage must be'],
    [['--from', '2026-11-01'], '--to must be a day such as 2026-11-30; it is missing.'],
  ])('refuses %j', async (args, line) => {
    await expectRefusal(runCosts, ['--reconcile', 'x.csv', ...args], line);
  });

  it.each([fixtures.staging, changeProduction({ firewall: true })])(
    'models by usage types what the model’s month comes to: $name',
    ({ settings }) => {
      const traffic = readCommittedTraffic();
      const usage = toModelledUsage(settings, traffic, 1);
      const pricing = toStagePricing(settings, sumRequests(traffic));
      const { total } = toMonth(settings, traffic, pricing);
      expect(usage.reduce((sum, { dollars }) => sum + dollars, 0)).toBeCloseTo(total, 9);
    },
  );
});
