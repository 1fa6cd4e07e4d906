import { gzipSync } from 'node:zlib';
import { afterEach, expect, it, vi } from 'vitest';
import { toStageMonth } from '../../../infra/costs/bills/costReport.ts';
import { parseTraffic } from '../../../infra/costs/bills/traffic.ts';
import { toExpectedUsage } from '../../../infra/ops/costs/expectedUsage.ts';
import { stages } from '../../../infra/stages/stages.ts';
import { changeProduction, fixtures } from '../../support/stageFixtures.ts';
import { openTemporaryFolder } from '../../support/temporaryFolder.ts';
import { callOps, changeSettings, defineCommand, listNames, toScreen } from '../ops/opsProcess.ts';
import { priceStage } from './figures.ts';

const runCosts = defineCommand('costs');
const folder = openTemporaryFolder();
const write = (name: string, content: string | Uint8Array) =>
  folder.write(name, name.endsWith('.gz') ? gzipSync(content) : content);
afterEach(() => void vi.unstubAllEnvs());

const account = '123456789012';
const ownTags: Readonly<Record<string, string>> = { user_stage: 'production' };
/** What most lines of a bill have. */
const usual = {
  ...{ note: 'a,"b"', kind: 'Usage', currency: 'USD', account, tags: ownTags },
  ...{ start: '2026-11-01T00:00:00Z', end: '2026-12-01T00:00:00Z' },
  ...{ resource: '', chargeClass: '', commitment: '' },
};
type Others = Partial<typeof usual & { list: number }>;
const toLine = (
  service: string,
  usageType: string,
  quantity: number,
  dollars: number,
  others: Others = {},
) => ({ ...usual, service, usageType, quantity, dollars, list: dollars, ...others });
type Line = Readonly<ReturnType<typeof toLine>>;

type Format = 'CUR 2.0' | 'FOCUS';
/** The columns of both kinds of export, with one that is not needed. The last are of FOCUS alone. */
const columns: readonly (readonly [field: keyof Line, focus: string, cur?: string])[] = [
  ['note', 'ChargeDescription', 'identity_line_item_id'],
  ['service', 'ServiceName', 'line_item_product_code'],
  ['usageType', 'x_UsageType', 'line_item_usage_type'],
  ['quantity', 'ConsumedQuantity', 'line_item_usage_amount'],
  ['dollars', 'BilledCost', 'line_item_unblended_cost'],
  ['currency', 'BillingCurrency', 'line_item_currency_code'],
  ['kind', 'ChargeCategory', 'line_item_line_item_type'],
  ['start', 'ChargePeriodStart', 'line_item_usage_start_date'],
  ['end', 'ChargePeriodEnd', 'line_item_usage_end_date'],
  ['resource', 'ResourceId', 'line_item_resource_id'],
  ['account', 'SubAccountId', 'line_item_usage_account_id'],
  ['tags', 'Tags', 'resource_tags'],
  ['list', 'ListCost'],
  ['chargeClass', 'ChargeClass'],
  ['commitment', 'CommitmentDiscountId'],
];
const toColumns = (format: Format, lines: readonly Line[]) =>
  columns.flatMap(([field, focus, cur]) => {
    const name = format === 'FOCUS' ? focus : cur;
    return name ? [{ name, data: lines.map((line) => line[field]) }] : [];
  });

function toCsv(format: Format, lines: readonly Line[]): string {
  const toCell = (cell: unknown) => {
    const text = typeof cell === 'object' ? JSON.stringify(cell) : String(cell);
    return `"${text.replaceAll('"', '""')}"`;
  };
  const all = toColumns(format, lines);
  return [all.map(({ name }) => name), ...lines.map((_, row) => all.map(({ data }) => data[row]))]
    .map((row) => row.map(toCell).join(','))
    .join('\r\n');
}

const requests = ['--requests', 'getPet=2M,updateInventory=1M'];

const exports = [
  ['CUR 2.0', 'bill.csv'],
  ['FOCUS', 'bill.csv.gz'],
] as const;

const traffic = parseTraffic('{"requests": {"getPet": 2000000, "updateInventory": 1000000}}');
/**
 * A month's bill exactly as in the model, with the gateway's lines by the day. X-Ray's and the custom metrics' lines
 * have no tags.
 */
const production = priceStage(fixtures.production);
function toBill([region, prefix]: Region = ['us-east-1', 'USE1'], month = 10): Line[] {
  const stage = { ...production, settings: { ...production.settings, region } };
  const toTime = (day: number) => new Date(Date.UTC(2026, month, day)).toISOString();
  const days = new Date(Date.UTC(2026, month + 1, 0)).getUTCDate();
  const names = ['AmazonApiGateway', 'AWS Lambda', 'AmazonDynamoDB', 'AmazonCloudWatch', 'awskms'];
  return toExpectedUsage(stage, traffic).flatMap((usage) => {
    const name = [...names, 'AWSXRay'].find((one) => usage.service.test(one)) ?? '';
    const parts = usage.usageType === 'ApiGatewayRequest' ? days : 1;
    const [quantity, dollars] = [usage.quantity / parts, usage.dollars / parts];
    return Array.from({ length: parts }, (_, index) =>
      toLine(name, `${prefix}-${usage.usageType}`, quantity, dollars, {
        start: toTime(1 + index),
        end: toTime(1 + (days / parts) * (index + 1)),
        ...(usage.isTagged ? {} : { tags: {} }),
      }),
    );
  });
}
const exact = toBill();
const foreign = exact.map((line) => ({ ...line, account: '999999999999' }));
const times = ({ quantity, dollars, ...line }: Line, factor: number): Line => ({
  ...{ ...line, quantity: quantity * factor, dollars: dollars * factor },
});
const withGateway = (factor: number) => (lines: readonly Line[]) =>
  lines.map((line) => times(line, /ApiGatewayRequest/.test(line.usageType) ? factor : 1));
const toGateway = (dollars: number, others: Others) =>
  toLine('AmazonApiGateway', 'USE1-ApiGatewayRequest', 9e6, dollars, others);
/** Services have other names in FOCUS than in a Cost and Usage Report. */
const otherNames: Readonly<Record<string, string>> = {
  AmazonApiGateway: 'Amazon API Gateway',
  'AWS Lambda': 'AWSLambda',
  awskms: 'AWS Key Management Service',
};
const isOfDay = ({ start, end }: Line, day: string) =>
  start.startsWith(day) && Date.parse(end) - Date.parse(start) === 86_400_000;
const isSeconds = ({ usageType }: Line) => usageType.endsWith('Lambda-GB-Second-ARM');
const replaceSeconds = (lines: readonly Line[], toOthers: (seconds: Line) => Line[]) =>
  lines.flatMap((line) => (isSeconds(line) ? toOthers(line) : [line]));

type Region = [name: string, prefix: string];
type Plant = (exact: readonly Line[], format: Format, region: Region) => readonly Line[];
/** Deviations planted in the exact bill; `reconcile.txt` has what each leads to. */
const planted: Readonly<Record<string, Plant>> = {
  nothing: (lines) => lines,
  euros: (lines) => lines.map((line) => ({ ...line, currency: 'EUR' })),
  'days without lines': (lines) =>
    lines.filter((line) => !['07', '19', '20'].some((day) => isOfDay(line, `2026-11-${day}`))),
  'a day twice': (lines) => [...lines, ...lines.filter((line) => isOfDay(line, '2026-11-07'))],
  'two resources with the same use': (lines) =>
    lines.flatMap((line) =>
      isOfDay(line, '2026-11-07')
        ? ['a', 'b'].map((resource) => ({ ...times(line, 0.5), resource }))
        : [line],
    ),
  'an end before its month': (lines) =>
    lines
      .filter(({ start }) => start < '2026-11-21')
      .map((line) => (isOfDay(line, line.start.slice(0, 10)) ? line : times(line, 20 / 30))),
  'other names of the same, for half of the use': (lines) =>
    lines.flatMap((line) => {
      const [own, other] = [times(line, 0.5), times(line, 0.5)];
      const service = otherNames[line.service] ?? line.service;
      const usageType = line.usageType
        .replace(/.*-(?=KMS-Keys)/, 'us-east-1-')
        .replace('DataProcessing-Bytes', 'VendedLog-Bytes');
      const tags = line.tags === ownTags ? { 'user:stage': 'production', service: 'petstore' } : {};
      return [own, { ...other, service, usageType, tags }];
    }),
  'lines of others, and a credit': (lines) => [
    ...lines,
    toGateway(31.5, { tags: { stage: 'staging' } }),
    toGateway(31.5, { tags: { stage: 'production', service: 'another' } }),
    toLine('AmazonS3', 'TimedStorage-ByteHrs', 10, 0.23, { tags: {} }),
    toGateway(-2, { kind: 'Credit' }),
  ],
  '5.2 % more': withGateway(1.052),
  '4.8 % more': withGateway(1.048),
  'a lower price': (lines) =>
    lines.map((line) => (isSeconds(line) ? { ...line, dollars: 0.9 * line.dollars } : line)),
  'no alarms': (lines) =>
    lines.filter(({ usageType }) => !usageType.endsWith('CW:AlarmMonitorUsage')),
  'an unknown service': (lines) => [...lines, toLine('AmazonEC2', 'BoxUsage', 10, 12)],
  'a doubled month': (lines) => [...lines, ...lines],
  'a second month': (lines, _, region) => [...lines, ...toBill(region, 9)],
  'a refund, or a tax': (lines, format) => [
    ...lines,
    format === 'FOCUS'
      ? toLine('AWS Lambda', 'Request-ARM', -5, -3, { chargeClass: 'Correction' })
      : toLine('AWSLambda', '', 0, -3, { kind: 'Tax', tags: {} }),
  ],
  'a Savings Plan': (lines, format) =>
    replaceSeconds(lines, (seconds) =>
      format === 'FOCUS'
        ? [{ ...seconds, dollars: 0, list: seconds.dollars, commitment: 'arn:aws:x' }]
        : [
            { ...seconds, kind: 'SavingsPlanCoveredUsage' },
            { ...seconds, kind: 'SavingsPlanNegation', dollars: -seconds.dollars },
          ],
    ),
};
const regions: Region[] = [
  ['us-east-1', 'USE1'],
  ['eu-west-1', 'EU'],
];
const [head = '', first = '', second = '', ...others] = toCsv('FOCUS', exact).split('\r\n');
// From the second of the first day to noon of the sixth.
const end = '2026-11-06T12:00:00Z';
const toRequests = (quantity: number, start: string) =>
  toLine('AmazonApiGateway', 'ApiGatewayRequest', quantity, quantity * 3.5e-6, { start, end });
const days = [
  toRequests(1, '2026-11-01T23:59:59Z'),
  toRequests(10, '2026-11-02 00:00:00.000'),
  toRequests(100, '2026-11-04T23:00:00+00:00'),
  toRequests(1_000, '2026-11-05T00:00:00Z'),
];
const notOurs = [toLine('AmazonS3', 'TimedStorage-ByteHrs', 10, 0.23, { tags: {} })];
/** Files that cannot be reconciled, but for the last three. */
const files: Readonly<Record<string, string>> = {
  'otherColumns.csv': 'a,b\n1,2',
  'twoColumns.csv': 'ServiceName,Tags',
  'shortRow.csv': [head, first, second, 'x,y'].join('\n'),
  'openQuote.csv': [head, first, second, ...others.slice(0, 2), 'x,"y'].join('\n'),
  'comma.csv': [head, first, second.replace(/(Request",)"[^"]+"/, '$1"2,0"')].join('\n'),
  'timeWithoutYear.csv': [head, first.replace('2026-', '')].join('\n'),
  'longLine.csv': [head, first, 'x'.repeat(409_601)].join('\n'),
  'empty.csv': '',
  'others.csv': toCsv('FOCUS', notOurs),
  'days.csv': toCsv('FOCUS', days),
  'first.csv': toCsv('FOCUS', exact.slice(0, 4)),
  'second.csv': toCsv('CUR 2.0', [...exact.slice(4), ...foreign]),
};
const options = [
  'others.csv --from 2026-01-01 --to 2026-01-02',
  'days.csv --from 2026-11-02 --to 2026-11-04',
  'days.csv --json',
  'first.csv second.csv',
];
/** Once the settings have the stage's account. */
const ofAccount = 'first.csv second.csv --stage production';

it('says of each deviation what differs, in every format alike', async () => {
  // Days are of UTC.
  vi.stubEnv('TZ', 'Asia/Tokyo');
  const screens = [];
  for (const [name, plant] of Object.entries(planted)) {
    for (const region of regions) {
      const formats = new Map<string, string[]>();
      for (const [format, file] of exports) {
        const path = write(file, toCsv(format, plant(toBill(region), format, region)));
        const args = ['reconcile', path, ...requests];
        const outcome = await callOps(runCosts, args, { AWS_REGION: region[0] });
        const screen = toScreen([`costs reconcile FILE # with ${name}, in ${region[0]}`], outcome);
        formats.set(screen, [...(formats.get(screen) ?? []), `${format} ${file}`]);
      }
      for (const [screen, names] of formats) {
        const own = name === 'nothing' ? screen : withoutUsual(screen);
        screens.push(`${own}As ${names.join(', ')}\n`);
      }
    }
  }
  for (const [name, content] of Object.entries(files)) write(name, content);
  for (const line of [...Object.keys(files), ...options, ofAccount]) {
    if (line === ofAccount) changeSettings(stages.production, { account, region: 'us-east-1' });
    const args = line.split(' ').map((word) => (word.endsWith('csv') ? folder.toPath(word) : word));
    const outcome = await callOps(runCosts, ['reconcile', ...args, ...requests]);
    const stdout = line.endsWith('--json') ? listNames(JSON.parse(outcome.stdout)) : outcome.stdout;
    screens.push(withoutUsual(toScreen(['costs reconcile', line], { ...outcome, stdout })));
  }
  const text = screens.join('\n').replaceAll(`${folder.folder}/`, '');
  await expect(
    text,
    'commit what `npx vitest run test/infra/costs --update` writes',
  ).toMatchFileSnapshot('reconcile.txt');
});

/** Leaves out the heads of tables, and rows that are as expected. */
const withoutUsual = (screen: string) =>
  screen.replaceAll(
    /^(usage type .*|Outside the total|.* [+-]0\.0 % +[+-]0\.0 % .* [+-]0\.0 %)?\n/gm,
    '',
  );

const priced = [fixtures.staging, changeProduction({ firewall: true })].map(priceStage);
it.each(priced)('has the same month by usage types as the model: $name', (stage) => {
  const usage = toExpectedUsage(stage, traffic);
  const sum = usage.reduce((all, { dollars }) => all + dollars, 0);
  expect(sum).toBeCloseTo(toStageMonth(stage, traffic).total, 9);
});
