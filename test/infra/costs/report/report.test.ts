import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { type Bill, readBill } from '../../../../infra/costs/report/readBill.ts';
import { stages } from '../../../../infra/stages/stages.ts';
import { openTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { callOps, defineCommand } from '../../ops/opsProcess.ts';
import {
  account,
  DAY,
  dayOf,
  GB_SECONDS,
  type Line,
  makeMonth,
  ourTags,
  READS_AND_WRITES,
  shownLines,
  sumByMonth,
  times,
  toCharge,
  toCurCsv,
  toFocusCsv,
  toFocusGzip,
  toTime,
  writeParquet,
} from './bills.ts';

const runCosts = defineCommand('costs');
const folder = openTemporaryFolder();
const { toPath, write } = folder;
const october = makeMonth();
const MONTH = 31 * DAY;

const isOf = (type: string) => (line: Line) => line.usageType.endsWith(type);
const change = (test: (line: Line) => boolean, toLines: (line: Line) => Line | Line[]) =>
  october.flatMap((line) => (test(line) ? toLines(line) : [line]));
const isOf7th = (line: Line) => dayOf(line) === 7;
const withTags = (line: Line, tags: Line['tags']): Line => ({ ...line, tags });
const others = october.map((line) => ({ ...line, tags: { ...ourTags, service: 'checkout' } }));

const read = (paths: readonly string[], month?: string) =>
  readBill(paths, stages.production, month);
const sumPaid = ({ paid }: Bill) => paid.reduce((sum, { dollars }) => sum + Number(dollars), 0);

type Doubt = readonly [dollars: number | null, text: RegExp];
type Case = readonly [lines: readonly Line[], paid: number, ...doubts: Doubt[]];

/** Bills whose sum is known by hand, each with every doubt of its page. */
const bills: Readonly<Record<string, Case>> = {
  'a whole month': [october, MONTH],
  'by the hour, with exponents and small amounts, beside the month before, staging and others': [
    [
      ...makeMonth(9),
      ...change(
        (line) => dayOf(line) < 4,
        (line) =>
          Array.from({ length: 24 }, (_, hour) => ({
            ...times(line, 1 / 24),
            ...{ from: toTime(dayOf(line), hour), to: toTime(dayOf(line), hour + 1) },
          })),
      ).map((line) => ({ ...line, cost: line.cost.toExponential() as never })),
      ...Array.from({ length: 3_000 }, (_, index) => ({
        ...toCharge({ cost: 0.1, usageType: 'Request-ARM', tags: ourTags }),
        resource: `i-${index}`,
      })),
      ...october.map((line) => ({ ...line, tags: { ...ourTags, stage: 'staging' } })),
      ...october.map((line) => ({ ...line, tags: { service: 'checkout', stage: 'test' } })),
    ],
    MONTH + 300,
  ],
  'usage without our tags, or with some that are almost ours': [
    [
      ...october.map((line) => {
        if (isOf('ReadRequestUnits')(line)) return withTags(line, {});
        if (isOf('WriteRequestUnits')(line)) {
          return withTags(line, { App: 'Petstore-API', env: 'production' });
        }
        return isOf('GB-Second-ARM')(line)
          ? withTags(line, { service: 'petstore', Stage: 'Production' })
          : line;
      }),
      ...others,
      toCharge({ usageType: 'Request-ARM', cost: 11.625 }),
    ],
    MONTH - 31 * (READS_AND_WRITES + GB_SECONDS),
    [MONTH, /^Not in the sum: usage with this stage's tag, .* "(user_)?service":"checkout"/],
    [31 * GB_SECONDS, /not the tag of a known stage: "(user_)?Stage":"Production"/],
    [
      11.625 + 31 * 0.025,
      /without the tags.* invocations of functions \$11\.63, read units \$0\.78, in account 1/,
    ],
    [31 * 0.09375, /almost ours: "(user_)?App":"Petstore-API" \(write units/],
  ],
  'nothing tagged': [
    october.map((line) => withTags(line, {})),
    0,
    [null, /No line of 2026-10 has our two tags.* The files have lines of 2026-10;/],
    [MONTH, /without the tags.*, and 5 more, in accounts without usage of this stage/],
  ],
  'accounts and regions with days missing, and one with tags from the 10th on': [
    [
      ...october.filter((line) => dayOf(line) !== 7 && dayOf(line) < 30),
      ...october
        .filter((line) => dayOf(line) !== 12)
        .map((line) => ({ ...times(line, 0.5), account: '210987654321', region: 'eu-west-1' }))
        // AWS names a region in both ways.
        .map((line) => {
          const prefix = dayOf(line) % 2 ? 'EU' : 'eu-west-1';
          return { ...line, usageType: `${prefix}-${line.usageType.replace('USE1-', '')}` };
        }),
      ...october.map((line) => ({ ...line, account: '3', ...(dayOf(line) < 10 && { tags: {} }) })),
    ],
    28 * DAY + 15 * DAY + 22 * DAY,
    [9 * DAY, /without the tags/],
    [
      3 * DAY,
      /Account 123456789012 has no lines of this stage for 7 October, 30 October to 31 October\./,
    ],
    [DAY / 2, /Account 210987654321 has no lines of this stage for 12 October\./],
  ],
  'a day three times in a file, a provisioned table, and functions on x86': [
    [october, october.filter(isOf7th), october.filter(isOf7th)].flat().map((line) => ({
      ...line,
      usageType: line.usageType.replace('RequestUnits', 'CapacityUnit-Hrs').replace('-ARM', ''),
    })),
    33 * DAY,
    [33 * GB_SECONDS, /In the sum, but not in the model: Lambda-GB-Second of .*Lambda \(x86\)/],
    [2 * DAY, /same lines more than once, and all are counted/],
    [
      33 * 0.09375,
      /In the sum, but not in the model: WriteCapacityUnit-Hrs of .*DynamoDB \(provisioned\)/,
    ],
    [33 * 0.032, /In the sum, but not in the model: Request of .*Lambda \(x86\)/],
    [
      33 * 0.025,
      /In the sum, but not in the model: ReadCapacityUnit-Hrs of .*DynamoDB \(provisioned\)/,
    ],
  ],
  "a Savings Plan's fee, tax and credits in accounts without usage": [
    [
      ...change(isOf('Lambda-GB-Second-ARM'), (line) => [
        { ...line, kind: 'SavingsPlanCoveredUsage', effective: line.cost * 0.88 },
        { ...line, kind: 'SavingsPlanNegation', cost: -line.cost, quantity: 0, tags: {} },
      ]),
      toCharge({
        kind: 'SavingsPlanRecurringFee',
        service: 'ComputeSavingsPlans',
        account: '999999999999',
        cost: 744,
      }),
      toCharge({
        ...{ kind: 'SavingsPlanCoveredUsage', usageType: 'Lambda-GB-Second-ARM' },
        ...{ cost: 9, effective: 7 },
      }),
      toCharge({ kind: 'Tax', account: '999999999999', cost: 8.12 }),
      toCharge({ kind: 'Credit', account: '999999999999', cost: -5 }),
    ],
    MONTH - 31 * GB_SECONDS,
    [744, /^Not in the sum: fee .* \$744.00 in account 999999999999/],
    [31 * GB_SECONDS * 0.88, /covers usage of \$16.53 .* Fees in the sum: \$0.00\.$/],
    [8.12, /^Not in the sum: tax/],
    [7, /without the tags/],
    [-5, /^Not in the sum: credit/],
  ],
  "a Savings Plan's fee, tax and credits with our tags": [
    [
      ...change(isOf('Lambda-GB-Second-ARM'), (line) => ({
        ...{ ...line, kind: 'SavingsPlanCoveredUsage', effective: line.cost * 0.88 },
      })),
      toCharge({ kind: 'SavingsPlanRecurringFee', cost: 40, tags: ourTags }),
      toCharge({ kind: 'Tax', tags: ourTags, cost: 8.12 }),
      toCharge({ kind: 'Credit', tags: ourTags, cost: -5 }),
    ],
    MONTH - 31 * GB_SECONDS + 40 + 3.12,
    [31 * GB_SECONDS * 0.88, /covers usage of \$16.53 .* Fees in the sum: \$40.00\.$/],
  ],
  'private discounts, and a refund without tags': [
    [
      ...october.map((line) => ({ ...line, discount: 0.09 })),
      toCharge({ kind: 'Refund', usageType: 'Request-ARM', cost: -3.5 }),
    ],
    0.91 * MONTH,
    [-3.5, /^Not in the sum: (refund|correction)/],
  ],
};

it.each(Object.entries(bills))(
  'is right to the cent: %s',
  async (name, [lines, paid, ...doubts]) => {
    // As text and as Parquet, in both formats. The gzip has no name that says so.
    const writers = [
      () => write('cur.csv', toCurCsv(lines)),
      () => writeParquet(toPath('f.parquet'), 'focus', lines),
      () => write('focus', toFocusGzip(lines)),
      () => writeParquet(toPath('cur.parquet'), 'cur', lines, 'TIMESTAMPTZ'),
    ];
    const index = Object.keys(bills).indexOf(name);
    // The formats differ in charges and discounts: bills of usage alone take turns.
    const isOfUsage = lines.every(({ kind, discount }) => kind === 'Usage' && !discount);
    const both = index % 2 === 0 ? [0, 1] : [2, 3];
    const chosen = isOfUsage ? [index % 4] : both;
    const files = await Promise.all(
      writers.filter((_, at) => chosen.includes(at)).map((make) => make()),
    );
    for (const file of files) {
      const bill = await read([file]);
      expect(sumPaid(bill).toFixed(2), file).toBe(paid.toFixed(2));
      const said = bill.doubts.map(({ doubt }) => `${doubt}`);
      expect(said, file).toEqual(doubts.map(([, text]) => expect.stringMatching(text)));
      for (const [place, [dollars]] of doubts.entries()) {
        if (dollars === null) continue;
        expect(Number(bill.doubts[place]?.dollars), said[place]).toBeCloseTo(dollars, 2);
      }
    }
  },
);

it('doubts what is in two files, and counts files of the same bytes once', async () => {
  const daily = write('daily.csv', toCurCsv(october));
  const monthly = write('monthly.csv', toCurCsv(sumByMonth(october)));
  const copy = write('copy.csv', toCurCsv(october));
  const focus = write('focus.csv.gz', toFocusGzip(october));
  const unplaced = write(
    'unplaced.csv',
    toCurCsv(october.map((line) => ({ ...line, region: '' }))),
  );
  for (const [files, ...copies] of [
    [
      [daily, monthly, copy, daily],
      `${copy} has the same bytes as ${daily}, and is counted once.`,
      `${daily} has the same bytes as ${daily}, and is counted once.`,
    ],
    [[focus, unplaced]],
  ] as const) {
    const bill = await read(files);
    expect(sumPaid(bill)).toBeCloseTo(2 * MONTH, 2);
    expect(bill.doubts).toEqual([
      {
        doubt: expect.stringContaining(`all are counted: ${files[0]}, ${files[1]}. `),
        dollars: expect.closeTo(MONTH, 2),
      },
      ...copies.map((doubt) => ({ doubt, dollars: null })),
    ]);
  }
});

it('doubts tax and usage without tags in two files, and an export in parts once', async () => {
  const tax = toCharge({ kind: 'Tax', tags: ourTags, cost: 8 });
  const untagged = toCharge({ usageType: 'Request-ARM', cost: 2 });
  const one = write('one.csv', toCurCsv([...october, tax, untagged]));
  const two = write('two.csv', toCurCsv([tax, untagged]));
  const { doubts } = await read([one, two]);
  expect(doubts).toEqual([
    {
      doubt: expect.stringMatching(/^Several files .* Other doubts have another \$2.00/),
      dollars: expect.closeTo(8, 2),
    },
    { doubt: expect.stringContaining('without the tags'), dollars: 4 },
  ]);
  // One account's lines are each in one part. Of the other's, each part has some of the cost.
  const parts = [0, 1, 2].map((part) => {
    const own = october.filter((_, index) => index % 3 === part);
    const shared = october.map((line) => ({ ...times(line, (part + 1) / 6), account: '2' }));
    return write(`part-${part}.csv`, toCurCsv([...own, ...shared]));
  });
  const [doubt, ...more] = (await read(parts)).doubts;
  expect([Number(doubt?.dollars), more]).toEqual([expect.closeTo(MONTH / 2, 2), []]);
});

it('takes names for files, never for patterns, and a folder for its data files', async () => {
  const elsewhere = october.map((line) => ({ ...line, account: '2' }));
  const half = elsewhere.filter((line) => dayOf(line) <= 15);
  const rest = elsewhere.filter((line) => dayOf(line) > 15);
  write('bill1.csv', toCurCsv([...october, ...others]));
  const paths = ['bill[1].csv', 'bill*.csv', 'bill?.csv', "it's.csv"].map((name, index) =>
    write(name, toCurCsv(october.filter((line) => dayOf(line) % 4 === index))),
  );
  mkdirSync(toPath('export/data/BILLING_PERIOD=2026-10'), { recursive: true });
  write('export/data/BILLING_PERIOD=2026-10/part-1.csv.gz', gzipSync(toCurCsv(half)));
  await writeParquet(toPath('export/data/BILLING_PERIOD=2026-10/part-2.parquet'), 'cur', rest);
  write('export/Manifest.json', '{}');
  write('export/.DS_Store', '');
  const bill = await read([...paths, toPath('export')]);
  expect([sumPaid(bill), bill.doubts]).toEqual([expect.closeTo(2 * MONTH, 2), []]);
});

it('reads a byte order mark, other line ends, flat tags, and only the columns that it needs', async () => {
  const text = toCurCsv(october);
  const few = text.replace(
    /"(identity_line_item_id|bill_\w+|line_item_net_unblended_cost|pricing_\w+|savings_\w+|line_item_resource_id)"/g,
    '"no_$1"',
  );
  const flat = text
    .replace('"resource_tags"', '"resource_tags_user_service"')
    .replaceAll(/"{""user_service"":""petstore"",""user_stage"":""production""}"/g, '"petstore"')
    .replaceAll('\r\n', ',"production"\n')
    .replace('"production"', '"resource_tags_user_stage"');
  const files = {
    'bom.csv': `\ufeff${text}\r\n`,
    'few.csv': few,
    'plain.csv.gz': text,
    'focus-1.2.csv': toFocusCsv(october)
      .replace('"BilledCost"', '"InvoiceId","BilledCost"')
      .replaceAll('\r\n"', '\r\n"1","'),
    'flat.csv': `${flat},"production"`,
  };
  const paths = Object.entries(files).map(([name, content]) =>
    write(name, content.replaceAll(account, name)),
  );
  const { places, doubts } = await read(paths);
  const sums = Object.fromEntries(places.map((row) => [row.account, Number(row.dollars)]));
  const month = expect.closeTo(MONTH, 2);
  expect(sums).toEqual(Object.fromEntries(Object.keys(files).map((name) => [name, month])));
  expect(doubts).toEqual([]);
});

it('doubts a file that ends within a number, and refuses damaged Parquet and a link to a folder', async () => {
  const whole = `${toCurCsv(october)},"x"`.replace('"resource_tags"', '"resource_tags","last"');
  const cut = write('cut.csv', whole.replaceAll(/}"\r\n/g, '}",1\r\n').replace(/"x"$/, '12'));
  const said = `${cut} ends within a line, and may lack its end. Download it again.`;
  expect((await read([cut])).doubts).toEqual([{ doubt: said, dollars: null }]);
  const parquet = await writeParquet(toPath('damaged.parquet'), 'cur', october);
  writeFileSync(parquet, readFileSync(parquet).fill(0xff, 200, 3000));
  await expect(read([parquet])).rejects.toThrow(`${parquet}: the file is damaged (`);
  mkdirSync(toPath('linked'));
  symlinkSync(toPath('.'), toPath('linked/link'));
  await expect(read([toPath('linked')])).rejects.toThrow(
    `${toPath('linked/link')} is a link to a folder. Give that folder itself.`,
  );
});

it('takes a private discount once, from net costs or from lines of their own, and negations as nothing', async () => {
  const discount = toCharge({ kind: 'EdpDiscount', cost: -3, tags: ourTags });
  const tax = [0.1, 0.2].map((cost) => toCharge({ kind: 'Tax', cost, tags: ourTags }));
  const negation = toCharge({ kind: 'SavingsPlanNegation', cost: -1, tags: ourTags });
  const reduced = october.map((line) => ({ ...line, discount: 3 / MONTH }));
  const elsewhere = [...reduced, discount].map((line) => ({ ...line, account: '2' }));
  const ofLines = write('lines.csv', toCurCsv([...october, discount, ...tax, negation]));
  const both = write('both.csv', toCurCsv(elsewhere));
  const bill = await read([ofLines, both]);
  expect(bill.paid.map(({ charge, dollars }) => [charge, Number(dollars)])).toEqual([
    ['usage', expect.closeTo(2 * MONTH - 3, 2)],
    ['discount', -3],
    // Not 0.30000000000000004.
    ['tax', 0.3],
  ]);
});

it('gives each kind its quantity, its price beside the model, and the month before, and prices requests', async () => {
  const resource = `arn:aws:lambda:us-east-1:${account}:function:petstore-production-adjustInventory`;
  const named = change(isOf('-ARM'), (line) => [
    times(line, 0.75),
    { ...times(line, 0.25), resource },
  ]);
  const bill = await read([write('two.csv', toCurCsv([...makeMonth(9), ...named]))]);
  expect(bill.months).toMatchObject({ name: 'October 2026', months: '2026-09, 2026-10' });
  const [gateway] = bill.kinds;
  expect(gateway).toMatchObject({
    kind: 'requests of the gateway',
    region: 'us-east-1',
    model: 3.5e-6,
  });
  const { quantity, dollars, dollars_a_unit, dollars_before } = gateway ?? {};
  expect([quantity, dollars, dollars_a_unit, dollars_before].map(Number)).toEqual([
    ...[4_960_000, 17.36, expect.closeTo(3.5e-6, 12), 16.8],
  ]);
  expect(bill.requests.dollars).toBeCloseTo((1e6 * MONTH) / 4_960_000, 6);
  expect(bill.requests.dollars_of_calls).toBeCloseTo((1_000 * (0.032 + GB_SECONDS)) / 160_000, 6);
  await expect(read([toPath('two.csv')], '2026-08')).rejects.toThrow(
    'The files have lines of 2026-09, 2026-10, none of 2026-08.',
  );
  const september = await read([toPath('two.csv')], '2026-09');
  expect(sumPaid(september)).toBeCloseTo(30 * DAY, 2);
  expect(september.requests.calls).toBeNull();
});

it('lists the days on which a kind costs more, or takes more a request, and none before the seventh', async () => {
  const days: Readonly<Record<number, number>> = { 6: 9, 9: 2 };
  const busy = october.map((line) => {
    const day = dayOf(line);
    if (isOf('GB-Second-ARM')(line) && day >= 20) return times(line, 3);
    return times(line, isOf('ApiGatewayRequest')(line) && day === 14 ? 3 : (days[day] ?? 1));
  });
  const { unusualDays } = await read([write('busy.csv', toCurCsv(busy))]);
  // Twice the requests take as much a request.
  expect(unusualDays.map(({ days, kind, a_request }) => [days, kind, a_request])).toEqual([
    ['9 October', 'GB-seconds of functions', null],
    ['9 October', 'requests of the gateway', null],
    ['14 October', 'GB-seconds of functions', expect.closeTo(0.25 / 3)],
    ['14 October', 'requests of the gateway', null],
    ['20 October to 26 October', 'GB-seconds of functions', expect.closeTo(0.75)],
  ]);
  expect(unusualDays.at(-1)).toMatchObject({
    ...{ dollars: expect.closeTo(3 * GB_SECONDS), usual_dollars: expect.closeTo(GB_SECONDS) },
    ...{ usual_a_request: expect.closeTo(0.25), dollars_after: expect.closeTo(3 * GB_SECONDS) },
  });
  const monthly = await read([write('monthly.csv', toCurCsv(sumByMonth(october)))]);
  expect(sumPaid(monthly)).toBeCloseTo(MONTH, 2);
  expect([monthly.doubts, monthly.unusualDays, monthly.days]).toEqual([[], [], []]);
});

// `npm run pages` opens it in a browser.
it('is one file that loads nothing, with the doubts first and then what was paid', async () => {
  const path = await writeParquet(toPath('shown.parquet'), 'cur', shownLines);
  const { stdout: page, stderr } = await callOps(runCosts, ['report', path]);
  expect(stderr).toMatch(/^production, October 2026: \$\d+\.\d\d paid, 5 doubts\.\n$/);
  expect(page).not.toMatch(/<script|<link|<img|@import|url\(|https?:/);
  expect(page).toContain('petstore &lt;b>');
  expect([...page.matchAll(/<h2>(.*?)<\/h2>/g)].map(([, title]) => title)).toEqual([
    ...['What makes the sum doubtful', 'What was paid', 'A million requests', 'By kind of usage'],
    ...['Unusual days', 'By day', 'By account and region'],
  ]);
  const [, requests = ''] =
    /npx petstore costs --stage production --requests (\d+), divided/.exec(page) ?? [];
  const { stdout } = await callOps(runCosts, ['--requests', requests, '--json']);
  const { region, month } = JSON.parse(stdout);
  const dollars = ((1e6 * month.total) / Number(requests)).toFixed(2);
  expect(page).toContain(`By the model, in ${region}</td><td>$${dollars}<`);
  for (const text of [
    '20 October to 26 October',
    'The month before',
    'tax without our two tags: $12.00 in account 999999999999',
  ]) {
    expect(page).toContain(text);
  }
});

const text = toCurCsv(october);
const [header = ''] = text.split('\r\n');
/** Files that are no bill, each with what the command says. */
const refused: Readonly<Record<string, string | Uint8Array>> = {
  'book.xlsx': Buffer.from('504b0304140006000800', 'hex'),
  'explorer.csv':
    '"Service","Lambda($)","DynamoDB($)","Total costs($)"\n"2026-10-01","1.2","3.4","4.6"',
  'console.csv':
    '"InvoiceID","PayerAccountId","LinkedAccountId","RecordType","ProductName"\n"1","2","3","LinkedLineItem","AWS Lambda"',
  'legacy.csv':
    'identity/LineItemId,lineItem/UnblendedCost,resourceTags/user:stage\na,1,production',
  'semicolons.csv': text.replaceAll('","', '";"'),
  'insights.csv': '@timestamp,@message\n2026-10-01 00:00:00.000,hello',
  'cut.csv.gz': gzipSync(text).subarray(0, 900),
  'utf16.csv': Buffer.from(text, 'utf16le'),
  'empty.csv': '',
  'header.csv': header,
  'blank.csv': `\n${text}`,
  'return.csv': text.replaceAll('\r\n', '\r'),
  'trailing.csv.gz': Buffer.concat([gzipSync(text), Buffer.alloc(512)]),
  'columns.csv': 'line_item_unblended_cost,b\n1,2',
  'untagged.csv': text.replace('"resource_tags"', '"labels"'),
  'euros.csv': toCurCsv(
    october.map((line, index) => (index === 4 ? { ...line, currency: 'EUR' } : line)),
  ),
  'thousands.csv': text.replace('"0.533336"', '"1,234.50"'),
  'american.csv': text.replace('"2026-10-02T00:00:00.000Z"', '"10/02/2026 00:00"'),
  'timeless.csv': text.replace('"2026-10-02T00:00:00.000Z"', '""'),
  'underscore.csv': text.replace('"0.533336"', '"1_000"'),
  'charge.csv': text.replace('"Usage"', '""'),
  'category.csv': toFocusCsv(october).replace('"Usage"', '""'),
  'free.csv': text.replace('"0.533336"', '""'),
  'tags.csv': text.replace('"{""user_service"":', '"{user_service='),
  'row.csv': text.replace(/\r\n"Request[^\r]*\r\n/, '\r\n"x","y"\r\n'),
  'quote.csv': `${text}\r\n"x`,
};

it('says of each file that is no bill what it is, in which row, and what is needed', async () => {
  const said: string[] = [];
  for (const [name, content] of Object.entries({ ...refused, 'missing.csv': undefined })) {
    const path = content === undefined ? toPath(name) : write(name, content);
    const { stdout, stderr, status } = await callOps(runCosts, ['report', path]);
    expect([stdout, status], name).toEqual(['', 1]);
    said.push(`${name}: ${stderr}`);
  }
  await expect(said.join('').replaceAll(`${folder.folder}/`, '')).toMatchFileSnapshot(
    'refusals.txt',
  );
});
