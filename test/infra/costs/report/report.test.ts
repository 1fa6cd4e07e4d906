import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import allowancesFile from '../../../../infra/costs/allowances.json' with { type: 'json' };
import { readCommittedTraffic, sumRequests } from '../../../../infra/costs/bills/traffic.ts';
import { withMetrics } from '../../../../infra/costs/costOptions.ts';
import { readPrices, toUnitDollars, usageParts } from '../../../../infra/costs/prices.ts';
import { stages } from '../../../../infra/stages/stages.ts';
import { fixtures } from '../../../support/stageFixtures.ts';
import { openTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { callOps, changeSettings, defineCommand } from '../../ops/opsProcess.ts';
import {
  account,
  type Format,
  formats,
  type Line,
  makeBill,
  type Place,
  places,
  type Tags,
  tagsOfStage,
  times,
  toCsv,
  toTime,
  writeBill,
} from './bills.ts';

const runCosts = defineCommand('costs');
const folder = openTemporaryFolder();
// All of November is billed.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 11, 5, 12) }));
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

const production = await withMetrics(fixtures.production);

const isOf = (type: string) => (line: Line) => line.usageType.endsWith(`-${type}`);
const change =
  (type: string, toLines: (line: Line) => readonly Line[]) => (lines: readonly Line[]) =>
    lines.flatMap((line) => (isOf(type)(line) ? toLines(line) : [line]));
/** A line of the whole month that no resource has. */
const toUntagged = (line: Partial<Line>): Line => ({
  ...{ kind: 'Usage', service: '', usageType: '', region: '', account, quantity: 0, cost: 0 },
  ...{ from: toTime('2026-11', 1), end: toTime('2026-11', 31), tags: {}, ...line },
});
/** The same use by staging, so that half of what is shared is not production's. */
const withStaging = (lines: readonly Line[]) => [
  ...lines,
  ...lines.map((line) =>
    line.tags.stage ? { ...line, tags: { ...line.tags, stage: 'staging' } } : line,
  ),
];
const onDays =
  (from: number, to: number) =>
  ({ from: day }: Line) => {
    const number = Number(day.slice(8, 10));
    return number >= from && number <= to;
  };
const isDaily = (line: Line) => Date.parse(line.end) - Date.parse(line.from) === 86_400_000;
const sumCost = (lines: readonly Line[]) => lines.reduce((sum, { cost }) => sum + cost, 0);

/** Splits a line into what the allowance covers, which is billed with $0, and the rest. */
function splitFree(line: Line, quantity: number): Line[] {
  const free = Math.min(quantity, line.quantity);
  return [
    { ...times(line, free / line.quantity), cost: 0, list: 0 },
    times(line, 1 - free / line.quantity),
  ].filter((one) => one.quantity > 0);
}

const withFreeTier = (lines: readonly Line[]) => {
  const left = new Map(allowancesFile.allowances.map((one) => [one.kind as string, one.amount]));
  return lines.flatMap((line) => {
    const kind = Object.entries(usageParts).find(
      ([, [, , , type, alsoNamed]]) =>
        isOf(type)(line) || alsoNamed?.test(line.usageType.split('-').slice(1).join('-')),
    )?.[0];
    const amount =
      line.service === 'AmazonDynamoDB' && kind === 'storedLogGigabytes'
        ? undefined
        : left.get(kind ?? '');
    if (!kind || amount === undefined || amount === 0) return [line];
    left.set(kind, Math.max(0, amount - line.quantity));
    return splitFree(line, amount);
  });
};

/** An hour of each day's lines in place of the day. */
const splitByHour = (lines: readonly Line[]) =>
  lines.flatMap((line) =>
    isDaily(line)
      ? Array.from({ length: 24 }, (_, hour) => ({
          ...times(line, 1 / 24),
          from: new Date(Date.parse(line.from) + hour * 3_600_000).toISOString(),
          end: new Date(Date.parse(line.from) + (hour + 1) * 3_600_000).toISOString(),
        }))
      : [line],
  );
const sumByMonth = (lines: readonly Line[]) => [
  ...lines.filter((line) => !isDaily(line)),
  ...[...Map.groupBy(lines.filter(isDaily), ({ usageType }) => usageType).values()].flatMap(
    ([first, ...others]) =>
      first ? [{ ...times(first, others.length + 1), end: toTime('2026-11', 31) }] : [],
  ),
];

const traffic = readCommittedTraffic();
const busyWeek = {
  ...traffic,
  shares: traffic.shares.map((one) => ({ ...one, requests: one.requests * (1 + (0.2 * 7) / 30) })),
};
/** A bill of a month with more traffic from 8 to 14 November. */
function makeBusyWeek(place: Place): Line[] {
  const lines = makeBill(production, place, '2026-11', busyWeek);
  return lines.map((line) => {
    if (!isDaily(line)) return line;
    const usual = 30 / (30 + 0.2 * 7);
    return times(line, onDays(8, 14)(line) ? 1.2 * usual : usual);
  });
}

type Plant = (exact: readonly Line[], place: Place) => readonly Line[];
const exact: Readonly<Record<string, Plant>> = {
  'nothing, in another region than the shell': (lines) => lines,
  'the free tier': withFreeTier,
  'a discount of 9 %': (lines) => lines.map((line) => ({ ...line, discount: 0.09 })),
  'two accounts': (lines) =>
    lines.flatMap((line) => [times(line, 0.5), { ...times(line, 0.5), account: '210987654321' }]),
};

/** Bills that differ from the model, or come in another form. */
const planted: Readonly<Record<string, Plant>> = {
  'lines by the hour': splitByHour,
  'lines by the month': sumByMonth,
  'lines of staging, of others, and without tags': (lines) => [
    ...withStaging(lines),
    toUntagged({
      service: 'AmazonS3',
      usageType: 'TimedStorage-ByteHrs',
      quantity: 10,
      cost: 0.23,
    }),
    toUntagged({
      ...lines[0],
      account: '999999999999',
      cost: 31.5,
      tags: { stage: 'production', service: 'another' },
    }),
  ],
  'our own queries of Logs Insights': (lines, [region, prefix]) => [
    ...lines,
    toUntagged({
      service: 'AmazonCloudWatch',
      usageType: `${prefix}-DataScanned-Bytes`,
      region,
      quantity: 20,
      cost: 20 * toUnitDollars(readPrices(region).prices.queriedGigabytes, 20),
    }),
  ],
  'a second region': (lines) => {
    const [other, prefix] = ['eu-west-1', 'EU'];
    const price = readPrices(other).prices.gatewayRequests;
    return change('ApiGatewayRequest', (line) => [
      times(line, 0.75),
      {
        ...times(line, 0.25),
        region: other,
        usageType: `${prefix}-ApiGatewayRequest`,
        cost: 0.25 * line.quantity * toUnitDollars(price, 1),
      },
    ])(lines);
  },
  'a region without prices': (lines) =>
    change('TimedPITRStorage-ByteHrs', (line) => [
      { ...line, region: 'ap-south-1', usageType: 'APS3-TimedPITRStorage-ByteHrs', cost: 0.07 },
    ])(lines),
  'an earlier month': (lines, place) => [...lines, ...makeBill(production, place, '2026-10')],
  'a discount of 9 % as lines without tags': (lines) => [
    ...withStaging(lines),
    ...[
      'AmazonApiGateway',
      'AWSLambda',
      'AmazonDynamoDB',
      'AmazonCloudWatch',
      'awskms',
      'AWSXRay',
    ].map((service) =>
      toUntagged({
        kind: 'EdpDiscount',
        service,
        cost: -0.09 * sumCost(withStaging(lines).filter((one) => one.service === service)),
      }),
    ),
  ],
  'a tax without tags, and staging in the account': (lines) => [
    ...withStaging(lines),
    toUntagged({ kind: 'Tax', service: 'AmazonApiGateway', cost: 8 }),
  ],
  'a credit without tags': (lines) => [
    ...lines,
    toUntagged({ kind: 'Credit', service: 'AWSLambda', cost: -3 }),
  ],
  'a refund of an earlier month': (lines) => [
    ...lines,
    {
      ...toUntagged({
        kind: 'Refund',
        service: 'AWSLambda',
        usageType: 'Request-ARM',
        quantity: -5,
        cost: -3,
      }),
      tags: tagsOfStage,
    },
  ],
  'a Savings Plan, whose negation has no tags': change('Lambda-GB-Second-ARM', (line) => [
    { ...line, kind: 'SavingsPlanCoveredUsage' },
    { ...line, kind: 'SavingsPlanNegation', cost: -line.cost, quantity: 0, list: 0, tags: {} },
  ]),
  'a price 10 % above the list': change('ApiGatewayRequest', (line) => [
    { ...line, cost: 1.1 * line.cost },
  ]),
  'a cost 10 % above AWS’s own list': change('ApiGatewayRequest', (line) => [
    { ...line, cost: 1.1 * line.cost, list: line.cost },
  ]),
  'a price 15 % below the list': change('Lambda-GB-Second-ARM', (line) => [
    { ...line, cost: 0.85 * line.cost },
  ]),
  '$0 for what no allowance covers': change('ApiGatewayRequest', (line) => [{ ...line, cost: 0 }]),
  '$0 for more than the allowance': change('CW:AlarmMonitorUsage', (line) => [
    { ...line, cost: 0 },
  ]),
  '20 % more traffic in one week': (_, place) => makeBusyWeek(place),
  '30 % less traffic': (_, place) =>
    makeBill(production, place, '2026-11', {
      ...traffic,
      shares: traffic.shares.map((one) => ({ ...one, requests: 0.7 * one.requests })),
    }),
  'twice the time of functions': change('Lambda-GB-Second-ARM', (line) => [times(line, 2)]),
  'no alarms': (lines) => lines.filter((line) => !isOf('CW:AlarmMonitorUsage')(line)),
  'another service with our tags': (lines, [region]) => [
    ...lines,
    {
      ...toUntagged({
        service: 'AmazonEC2',
        usageType: 'BoxUsage:t4g.small',
        region,
        quantity: 10,
        cost: 12,
      }),
      tags: tagsOfStage,
    },
  ],
  'a fee with our tags': (lines) => [
    ...lines,
    { ...toUntagged({ kind: 'Fee', service: 'AWSSupportBusiness', cost: 29 }), tags: tagsOfStage },
  ],
  'days without lines': (lines) =>
    lines.filter((line) => !isDaily(line) || ![7, 19, 20].some((day) => onDays(day, day)(line))),
  'a day twice': (lines) => [
    ...lines,
    ...lines.filter((line) => isDaily(line) && onDays(7, 7)(line)),
  ],
  'all lines twice': (lines) => [...lines, ...lines],
  'an end before its month': (lines) =>
    lines.filter((line) => !isDaily(line) || onDays(1, 20)(line)),
  'tags from the 10th on': (lines) =>
    lines.map((line) => (isDaily(line) && onDays(1, 9)(line) ? { ...line, tags: {} } : line)),
};

/** Runs the command, without credentials and in a region that is none of the bill's. */
const report = (args: readonly string[], region = 'us-west-2') =>
  callOps(runCosts, ['report', ...args], { AWS_REGION: region });
/** What the command says of a bill: JSON, and its status. */
async function judge(args: readonly string[]) {
  const { stdout, stderr, status } = await report([...args, '--json']);
  if (stdout === '') throw new Error(stderr);
  return { ...JSON.parse(stdout), status };
}

const judged = new Map<string, string>();
const bills = Object.entries({ ...exact, ...planted });

it.each(bills.map(([name, plant], index) => ({ name, plant, index })))(
  'says of a bill the same in every format: $name',
  async ({ name, plant, index }) => {
    // Days are of UTC.
    vi.stubEnv('TZ', 'Asia/Tokyo');
    const sentences: string[] = [];
    for (const [number, place] of places.entries()) {
      const lines = plant(makeBill(production, place), place);
      const said = new Map<string, string>();
      for (const format of chooseFormats(name, index, number)) {
        const found = await judge(['2026-11', await writeBill(folder, format, lines)]);
        const steps = found.bridge.map(
          ({ step, dollars }: { step: string; dollars: number }) => `${step} ${dollars.toFixed(2)}`,
        );
        const sum = found.bridge.reduce(
          (all: number, one: { dollars: number }) => all + one.dollars,
          0,
        );
        expect(sum, 'the bridge leads to what was paid').toBeCloseTo(found.paid, 2);
        if (name in exact) expectToAgree(found, lines, place);
        said.set(format, `${found.verdict}\n  (${steps.join(', ')}; status ${found.status})`);
      }
      for (const [sentence, all] of Map.groupBy(said, ([, text]) => text)) {
        const which =
          all.length === said.size ? '' : ` as ${all.map(([format]) => format).join(', ')}`;
        sentences.push(`${place[0]}${which}: ${sentence}`);
      }
    }
    judged.set(name, sentences.join('\n'));
  },
);

/**
 * Each place has two of the four formats. An exact bill comes in all four, a deviation as CUR 2.0 in one place and as
 * FOCUS in the other. FOCUS has no lines of discounts.
 */
function chooseFormats(name: string, index: number, place: number): readonly Format[] {
  const own = formats
    .filter((_, number) => (number % 3 === 0) === (place === 0))
    .filter((format) => format.startsWith('cur') || !name.includes('as lines'));
  return name in exact ? own : own.slice((index + place) % own.length).slice(0, 1);
}

/** An exact bill agrees with the model to the cent. */
function expectToAgree(
  { causes, lines: priced, paid, bridge }: Awaited<ReturnType<typeof judge>>,
  lines: readonly Line[],
  place: Place,
): void {
  const cost = lines.reduce((sum, line) => sum + line.cost * (1 - (line.discount ?? 0)), 0);
  expect(causes).toEqual([]);
  expect(paid).toBeCloseTo(cost, 6);
  expect(bridge[0].dollars).toBeCloseTo(sumCost(makeBill(production, place)), 6);
  for (const { difference } of priced) expect(difference).toBeCloseTo(0, 6);
}

it('gives each deviation its sentence', async () => {
  const text = [...judged].map(([name, sentences]) => `# ${name}\n${sentences}\n`).join('\n');
  await expect(
    text,
    'commit what `npx vitest run test/infra/costs --update` writes',
  ).toMatchFileSnapshot('sentences.txt');
});

it.each(['map', 'columns', 'tags'] satisfies Tags[])(
  'finds the tags of CUR 2.0 as %s',
  async (form) => {
    for (const format of ['cur.csv', 'cur.parquet'] as const) {
      const path = await writeBill(
        folder,
        format,
        withStaging(makeBill(production, places[0])),
        form,
      );
      const { causes, paid } = await judge(['2026-11', path]);
      expect(causes).toEqual([]);
      expect(paid).toBeCloseTo(sumCost(makeBill(production, places[0])), 6);
    }
  },
);

it('takes a discount once, from net costs or from lines of their own', async () => {
  const cost = sumCost(good());
  const discount = toUntagged({ kind: 'EdpDiscount', service: 'AmazonApiGateway', cost: -3 });
  const net = 'line_item_net_unblended_cost';
  // Without net costs, the lines of discounts count.
  const plain = (await toText([...good(), discount])).replace(`"${net}"`, '"other"');
  const ofLines = await judge(['2026-11', folder.write('plain.csv', plain)]);
  expect(ofLines.paid).toBeCloseTo(cost - 3, 6);
  // With them, the discount is in the net costs of what it reduces.
  const reduced = good().map((line) => ({ ...line, discount: 3 / cost }));
  const both = (await toText([...reduced, discount])).replace(/"-3","-3"(?=[^\n]*$)/, '"-3",""');
  const found = await judge(['2026-11', folder.write('both.csv', both)]);
  expect(found.paid).toBeCloseTo(cost - 3, 6);
  for (const { bridge, causes } of [ofLines, found]) {
    expect(bridge[1]).toMatchObject({ step: 'discounts', dollars: expect.closeTo(-3, 6) });
    expect(causes).toEqual([]);
  }
});

it('reads a bill of CUR 2.0 without the columns that an export may leave out', async () => {
  const text = (await toText()).replace(
    /"(line_item_net_unblended_cost|pricing_public_on_demand_cost|line_item_resource_id)"/g,
    '"not_$1"',
  );
  const { causes, paid } = await judge(['2026-11', folder.write('few.csv', text)]);
  expect(causes).toEqual([]);
  expect(paid).toBeCloseTo(sumCost(good()), 6);
});

it('says of which regions the list prices have no steps', async () => {
  const renderPage = async (place: Place) => {
    const path = await writeBill(folder, 'cur.csv', makeBill(production, place));
    return (await report(['2026-11', path])).stdout;
  };
  expect(await renderPage(places[1])).toContain(
    '<li>The prices of eu-central-1 have only their first',
  );
  expect(await renderPage(places[0])).not.toContain('only their first');
});

it('counts the calls of each function, if the bill names resources', async () => {
  const ids = { updateInventory: 2e6, adjustInventory: 2.1e6 };
  const lines = makeBill(production, places[0]).flatMap((line) =>
    isOf('Request-ARM')(line)
      ? Object.entries(ids).map(([id, calls]) => ({
          ...times(line, calls / 30 / line.quantity),
          resource: `arn:aws:lambda:us-east-1:${account}:function:petstore-production-${id}`,
        }))
      : [line],
  );
  const found = await judge(['2026-11', await writeBill(folder, 'focus.parquet', lines)]);
  const { requests } = found.traffic.file;
  // Without the scheduled check's calls, in the mix of the accepted traffic.
  const { shares } = readCommittedTraffic();
  for (const [id, calls] of Object.entries(ids)) {
    const mix = shares.filter(({ operationId }) => operationId === id);
    const factor = (calls - 8_760) / sumRequests({ shares: mix });
    for (const { response, requests: own } of mix) {
      const name = response === '200' ? id : `${id} ${response}`;
      expect(requests[name] / own, name).toBeCloseTo(factor, 3);
    }
  }
  expect(requests.listOrders).toBeUndefined();
  expect(found.operations[0]).toMatchObject({ operationId: 'adjustInventory' });
});

it('compares the months of several bills by a thousand sales', async () => {
  const october = makeBill(production, places[0], '2026-10').map((line) => ({
    ...line,
    discount: 0.5,
  }));
  const older = await writeBill(folder, 'focus.csv.gz', october);
  const newer = await writeBill(folder, 'cur.parquet', makeBill(production, places[0]));
  const { months, sales } = await judge(['2026-11', older, newer]);
  expect(months.map((one: { month: string }) => one.month)).toEqual(['2026-10', '2026-11']);
  expect(months[0].perThousandSales / months[1].perThousandSales).toBeCloseTo(0.5, 6);
  expect(months[1].perThousandSales).toBeCloseTo(sales.full, 9);
  expect(sales.marginal).toBeLessThan(sales.full);
});

it('forecasts the rest of a running month, with a band from how its days differ', async () => {
  vi.setSystemTime(Date.UTC(2026, 10, 21, 6));
  const lines = makeBill(production, places[0]).flatMap((line) => {
    if (!isDaily(line)) return [times(line, 20 / 30)];
    return onDays(1, 20)(line) ? [line] : [];
  });
  const half = lines.map((line) =>
    isDaily(line) ? times(line, onDays(1, 10)(line) ? 0.8 : 1.2) : line,
  );
  const [even, uneven] = [
    await judge(['2026-11', await writeBill(folder, 'cur.csv', lines)]),
    await judge(['2026-11', await writeBill(folder, 'cur.csv', half)]),
  ];
  const whole = sumCost(makeBill(production, places[0]));
  expect(even.verdict).toBe(
    `Production cost $${sumCost(lines).toFixed(2)} in November 2026 until 20 November, as accepted: the accepted traffic at AWS's list prices.`,
  );
  expect(even.forecast.expected).toBeCloseTo(whole, 6);
  expect(even.forecast.band.to - even.forecast.band.from).toBeCloseTo(0, 6);
  expect(uneven.forecast.expected).toBeCloseTo(whole, 6);
  // 20.5 % a day of what is not fixed, for ten days whose mean is not known better than by twenty.
  const { band, expected } = uneven.forecast;
  expect(band.to - expected).toBeGreaterThan(0.5);
  expect(band.to - expected).toBeCloseTo(expected - band.from, 9);
});

const [head, ...rows] = toCsv([{ line_item_unblended_cost: 1, b: 2 }]).split('\r\n');
const good = () => makeBill(production, places[0]);
const others = good().map((line) => ({ ...line, tags: { stage: 'staging' } }));
async function toText(lines: readonly Line[] = good()): Promise<string> {
  await writeBill(folder, 'cur.csv', lines);
  return folder.read('cur.csv');
}
const zip = Buffer.from('504b0304140006000800', 'hex');

/** Files that are no bill of the month, each with what the command says. */
const refused: Readonly<Record<string, () => Promise<string | Uint8Array>>> = {
  'book.xlsx': async () => zip,
  'legacy.csv': async () =>
    'identity/LineItemId,lineItem/UnblendedCost,resourceTags/user:stage\na,1,production',
  'semicolons.csv': async () => (await toText()).replaceAll('","', '";"'),
  'insights.csv': async () => '@timestamp,@message\n2026-11-01 00:00:00.000,hello',
  'insights.json': async () => '[{"@timestamp": "2026-11-01 00:00:00.000"}]',
  'cut.csv.gz': async () => gzipSync(await toText()).subarray(0, 900),
  'utf16.csv': async () => Buffer.from(await toText(), 'utf16le'),
  'empty.csv': async () => '',
  'other.csv': async () => 'a,b,c,d\n1,2,3,4',
  'columns.csv': async () => [head, ...rows].join('\n'),
  'untagged.csv': async () => (await toText()).replace('"resource_tags"', '"labels"'),
  'october.csv': async () => toText(makeBill(production, places[0], '2026-10')),
  'staging.csv': async () => toText(others),
  'euros.csv': async () => toText(good().map((line) => ({ ...line, currency: 'EUR' }))),
  'american.csv': async () =>
    (await toText()).replace('"2026-11-01T00:00:00.000Z"', '"11/01/2026 00:00"'),
  'timeless.csv': async () => (await toText()).replace('"2026-11-01T00:00:00.000Z"', '""'),
  'comma.csv': async () =>
    toText(
      good().map((line, index) => (index === 0 ? { ...line, quantity: '1,5' as never } : line)),
    ),
  'tags.csv': async () =>
    (await toText()).replace('"{""user_stage"":""production"",', '"{user_stage: production,'),
  'row.csv': async () =>
    (await toText())
      .split('\r\n')
      .map((line, index) => (index === 3 ? '"x","y"' : line))
      .join('\r\n'),
  'quote.csv': async () => `${await toText()}\r\n"x`,
};

it('says of each file that is no bill of the month what it is, and what is needed', async () => {
  const said: string[] = [];
  for (const [name, toContent] of Object.entries(refused)) {
    const { stdout, stderr, status } = await report([
      '2026-11',
      folder.write(name, await toContent()),
    ]);
    expect([stdout, status]).toEqual(['', 1]);
    said.push(`${name}: ${stderr}`);
  }
  said.push(`no file: ${(await report(['2026-11', folder.toPath('missing.csv')])).stderr}`);
  const path = await writeBill(folder, 'cur.csv', good());
  said.push(
    `another account: ${(await report(['2026-11', path, '--account', '111122223333'])).stderr}`,
  );
  said.push(`neither bill nor credentials: ${(await report(['2026-11'])).stderr}`);
  said.push(`no month: ${(await report(['2026-13', path])).stderr}`);
  said.push(`a month ahead: ${(await report(['2027-01', path])).stderr}`);
  changeSettings(stages.production, { region: 'eu-west-1' });
  said.push(`another region: ${(await report(['2026-11', path])).stderr}`);
  await expect(said.join('').replaceAll(`${folder.folder}/`, '')).toMatchFileSnapshot(
    'refusals.txt',
  );
});

it('counts only the accounts that are named, or the stage’s own', async () => {
  const lines = good().flatMap((line) => [line, { ...times(line, 3), account: '210987654321' }]);
  const path = await writeBill(folder, 'cur.parquet', lines);
  const cost = sumCost(good());
  expect((await judge(['2026-11', path])).paid).toBeCloseTo(4 * cost, 6);
  expect((await judge(['2026-11', path, '--account', account])).paid).toBeCloseTo(cost, 6);
  changeSettings(stages.production, { account: '210987654321' });
  expect((await judge(['2026-11', path])).paid).toBeCloseTo(3 * cost, 6);
});

it('adds money as decimals, also what Parquet has as DOUBLE', async () => {
  const tenth = {
    ...toUntagged({
      service: 'AmazonEC2',
      usageType: 'BoxUsage',
      quantity: 1,
      cost: 0.1,
      region: 'us-east-1',
    }),
    tags: tagsOfStage,
  };
  const many = Array.from({ length: 3_000 }, (_, index) => ({ ...tenth, resource: `i-${index}` }));
  const { notOurs } = await judge([
    '2026-11',
    await writeBill(folder, 'cur.parquet', [...good(), ...many]),
  ]);
  expect(notOurs).toMatchObject([
    { name: 'BoxUsage of AmazonEC2', region: 'us-east-1', dollars: 300 },
  ]);
});
