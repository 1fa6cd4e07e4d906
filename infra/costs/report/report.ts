import { operationIds } from '../../../shared/contract/operations.ts';
import { buildTags } from '../../stages/resourceNames.ts';
import { type Stage, stagesFile } from '../../stages/stages.ts';
import { findSales, priceSales } from '../bills/costReport.ts';
import { type Month, priceMonth, readPricing } from '../bills/monthlyBill.ts';
import { readCommittedTraffic, sumRequests, type Traffic } from '../bills/traffic.ts';
import { sortByAmount, sumDollars, sumOf, sumUsage, toRecord, type Usage } from '../bills/usage.ts';
import { readAccepted } from '../checkMonths.ts';
import {
  type DayRange,
  findToday,
  toDay,
  toDayCount,
  withMetrics,
  withRegion,
} from '../costOptions.ts';
import type { PricedStage } from '../figures.ts';
import { describeMissingSteps, readPrices, usageKinds, usualRegion } from '../prices.ts';
import { findBilledTraffic, findLoggedTraffic, mixTraffic } from './accountedTraffic.ts';
import { type BilledMonth, priceBill } from './billedMonth.ts';
import { forecastMonth } from './forecast.ts';
import {
  type Cause,
  capitalize,
  compareUse,
  findBillCause,
  findForeignCause,
  findPriceCause,
  findTrafficCause,
  findUseCause,
  toDate,
  toDollars,
  toMonthName,
  toPercent,
} from './judgeMonth.ts';
import { type KeyCost, priceKeys, sumKeys } from './keyCosts.ts';
import type { openLogs } from './logRows.ts';
import type { Bill, Step } from './readBill.ts';

type Logs = NonNullable<Awaited<ReturnType<typeof openLogs>>>;
export type Report = Awaited<ReturnType<typeof makeReport>>;

/** All that the page shows, made of a bill, of a stage's logs, or of both. The verdict is one sentence. */
export async function makeReport(...made: Parameters<typeof findFacts>) {
  const facts = await findFacts(...made);
  return { verdict: judge(facts), ...facts };
}

async function findFacts(
  named: Stage,
  month: DayRange & { readonly name: string },
  bill: Bill | undefined,
  logs: Logs | undefined,
  accounts: readonly string[],
) {
  const billed = bill && findOwnMonth(bill, month.name, named, accounts);
  const stage = await withMetrics(
    logs && !billed ? logs.stage : withRegion(named, billed?.region || undefined),
  );
  const { region = usualRegion } = stage.settings;
  const { asOf, prices } = readPrices(region);
  const all = toDayCount(month);
  const today = findToday();
  const isRunning = month.end > today;
  const days = findDays(bill, logs, month, today);
  const share = days.count / all;
  const ofLogs = logs ? toDayCount(logs.days) / all : 0;
  const accepted = readCommittedTraffic();
  const findTraffic = (own: BilledMonth, name: string, part: number) => {
    const calls = bill?.calls.filter((one) => one.month === name) ?? [];
    return findBilledTraffic(stage, accepted, calls, countUse(own).gatewayRequests, part);
  };
  const ofBill = billed && findTraffic(billed, month.name, share);
  const logged = logs && findLoggedTraffic(logs.rows, accepted, ofLogs);
  const traffic = ofBill && logged ? mixTraffic(logged, ofBill) : (ofBill ?? logged ?? accepted);
  const acceptedMonth = priceMonth(stage, accepted);
  const pricing = readPricing(stage, sumRequests(traffic));
  const expected = priceMonth(stage, traffic, pricing);
  const keys = logs ? priceKeys(logs.rows, logs.volume, logs.stage) : [];
  const fixed = expected.fixed * ofLogs;
  const usage = billed?.usage ?? sumOf(keys, ({ total }) => total) + fixed;
  const paid = billed?.paid ?? usage;
  const used = billed ? countUse(billed) : countLoggedUse(stage, accepted, keys, share);
  const lines = compareUse(used, expected.usage, acceptedMonth.usage, prices, share);
  const daily = bill?.isDaily ? bill.days : [];
  const own = billed ?? unbilled;
  const sales = logs
    ? (sumOf(keys, (one) => one.sales) * share) / ofLogs
    : countSales(traffic) * share;
  return {
    stage: stage.name,
    month: month.name,
    region,
    pricesAsOf: asOf,
    priceNote: describeMissingSteps([
      ...new Set([region, ...own.lines.map((line) => line.region)]),
    ]),
    tags: buildTags(stage),
    accounts: own.accounts,
    from: toDay(billed ? month.from : (logs?.days.from ?? month.from)),
    to: days.last,
    share,
    isRunning,
    hasBill: bill !== undefined,
    billLines: bill?.lines,
    causes: [
      ...(bill ? findBillCause(bill, month, today, own.untagged) : []),
      ...(billed ? [...findPriceCause(billed), ...findForeignCause(billed)] : []),
      ...findTrafficCause(lines, daily),
      ...findUseCause(lines),
    ],
    paid,
    usage,
    bridge: own.bridge,
    lines: own.lines,
    notOurs: own.notOurs,
    unpriced: own.unpriced,
    untagged: own.untagged,
    shared: own.shared,
    accepted: acceptedMonth.total * share,
    traffic: {
      source: traffic.source,
      requests: sumRequests(traffic) * share,
      accepted: sumRequests(accepted) * share,
      days: daily,
      usage: lines,
      /** For `--traffic`, or `infra/costs/traffic.json`. */
      file: formatTraffic(traffic),
    },
    sales: {
      count: sales,
      /** Of a thousand: all costs, and what a thousand more would add. */
      full: sales > 0 ? (1_000 * paid) / sales : undefined,
      marginal: (priceSales(pricing, expected)[0]?.marginal ?? 0) / 1_000,
    },
    months: bill ? compareMonths(bill, month.name, sales, findTraffic) : [],
    operations: priceOperations(expected, share),
    customers: sortByAmount(sumKeys(keys, fixed, ofLogs), ({ total }) => total),
    forecast: forecastMonth(
      stage,
      month,
      usage,
      (usage * expected.requests) / expected.total,
      bill ? daily.map(({ requests }) => requests) : (logs?.dailyBytes ?? []),
      { all, known: days.count, isOver: !isRunning },
      readAccepted()[stage.name],
    ),
  };
}

const unbilled: Omit<BilledMonth, 'region' | 'usage' | 'paid'> = {
  accounts: [],
  bridge: [],
  lines: [],
  notOurs: [],
  unpriced: [],
  untagged: 0,
  shared: 0,
};

/** The month of the bill. @throws {Error} if it has nothing of the stage */
function findOwnMonth(
  { rows }: Bill,
  month: string,
  stage: Stage,
  accounts: readonly string[],
): BilledMonth {
  const ofMonth = rows.filter((row) => row.month === month);
  const found = [...new Set(rows.map((row) => row.month))].join(', ');
  if (ofMonth.length === 0) {
    throw new Error(
      `The bill has lines of ${found || 'no month'}, none of ${month}. Give the bill of that month.`,
    );
  }
  const { service, stage: tag } = buildTags(stage);
  const own = ofMonth.filter((row) => row.tag === 'own' && row.category === 'usage');
  if (own.length === 0) {
    const among = accounts.length > 0 ? ` in account ${accounts.join(' or ')}` : '';
    const others = [...new Set(ofMonth.map(({ account }) => account))].join(', ');
    throw new Error(
      `The bill has no line of ${month} with the tags service "${service}" and stage "${tag}"${among}; its lines are of account ${others}. Activate both tags as cost allocation tags; AWS tags what is used from the next day on.`,
    );
  }
  const billed = priceBill(ofMonth);
  const { region } = stage.settings;
  if (region !== undefined && own.every((row) => row.region !== '' && row.region !== region)) {
    throw new Error(
      `The bill has ${stage.name} in ${billed.region}, and ${stagesFile} puts it into ${region}. Give the bill of that stage, or correct the settings.`,
    );
  }
  return billed;
}

/** How many days are known, and the last of them. */
function findDays(bill: Bill | undefined, logs: Logs | undefined, month: DayRange, today: number) {
  const elapsed = { from: month.from, end: Math.min(month.end, today) };
  const last = toDay(elapsed.end - 1);
  if (bill?.isDaily) return { count: bill.days.length, last: bill.days.at(-1)?.day ?? last };
  return { count: toDayCount(bill || !logs ? elapsed : logs.days), last };
}

const countSales = ({ shares }: Traffic) => sumRequests({ shares: findSales(shares) });

function countUse({ lines, unpriced }: BilledMonth): Required<Usage> {
  const kinds = [...lines, ...unpriced].flatMap(({ kind, quantity }) =>
    kind ? [{ [kind]: quantity }] : [],
  );
  return sumUsage(kinds);
}

/** What the logs count, and what is fixed. */
function countLoggedUse(
  stage: PricedStage,
  accepted: Traffic,
  keys: readonly KeyCost[],
  share: number,
): Usage {
  const fixed = priceMonth(stage, { ...accepted, shares: [] }).usage;
  const ofDays = toRecord(usageKinds, (kind) => share * fixed[kind]);
  return sumUsage([...keys.map(({ usage }) => usage), ofDays]);
}

function formatTraffic({ entries, shares }: Traffic) {
  const requests = shares
    .filter((share) => share.requests >= 0.5)
    .map((share) => {
      const kind = share.response === '200' ? '' : ` ${share.response}`;
      return [`${share.operationId}${kind}`, Math.round(share.requests)];
    });
  return { entries, requests: Object.fromEntries(requests) };
}

/**
 * The months of the bill, each with what a thousand sales cost.
 * @param sales of the month, which the logs may count: the others had as many for their traffic
 */
function compareMonths(
  { rows }: Bill,
  reported: string,
  sales: number,
  findTraffic: (billed: BilledMonth, month: string, part: number) => Traffic,
) {
  const months = [...Map.groupBy(rows, ({ month }) => month)].flatMap(([month, own]) => {
    const billed = priceBill(own);
    const { paid, lines } = billed;
    return lines.length > 0
      ? [{ month, paid, sales: countSales(findTraffic(billed, month, 1)) }]
      : [];
  });
  const factor = sales / (months.find(({ month }) => month === reported)?.sales || 1);
  return months.map(({ month, paid, sales: counted }) => {
    const sold = counted * factor;
    return {
      month,
      paid,
      sales: sold,
      perThousandSales: sold > 0 ? (1_000 * paid) / sold : undefined,
    };
  });
}

/** What the requests of each operation cost by the model, most expensive first. */
function priceOperations({ shares }: Month, share: number) {
  const rows = operationIds.map((operationId) => {
    const own = shares.filter((one) => one.operationId === operationId);
    const requests = sumRequests({ shares: own });
    const dollars = sumOf(own, (one) => sumDollars(one.dollars));
    return {
      operationId,
      requests: requests * share,
      dollars: dollars * share,
      dollarsPerMillion: (1e6 * dollars) / requests,
    };
  });
  const used = rows.filter(({ requests }) => requests > 0);
  return sortByAmount(used, ({ dollars }) => dollars);
}

type Facts = Awaited<ReturnType<typeof findFacts>>;

const causeNames: Readonly<Record<Cause['name'], string>> = {
  bill: 'the bill',
  price: 'a price',
  traffic: 'traffic',
  use: 'its use',
  'not ours': 'something that is not ours',
};

/** One sentence: what the month cost, and the largest cause of its difference from the accepted month. */
function judge(facts: Facts): string {
  const { stage, paid, causes, hasBill, isRunning, from, to, forecast, share } = facts;
  const month = toMonthName(facts.month);
  const incomplete = causes.find(({ name }) => name === 'bill');
  if (incomplete)
    return `The bill of ${month} does not say yet what ${stage} cost: ${incomplete.text}.`;
  const period = share < 1 ? `from ${toDate(from)} to ${toDate(to)}` : `in ${month}`;
  const said = hasBill
    ? `cost ${toDollars(paid)} in ${month}${isRunning ? ` until ${toDate(to)}` : ''}`
    : isRunning
      ? `will cost ${toDollars(forecast.expected)} in ${month}`
      : `used ${toDollars(paid)} at list prices ${period}`;
  const subject = `${capitalize(stage)} ${said}`;
  const [most] = sortByAmount(causes, ({ dollars }) => dollars);
  if (!most) return `${subject}, as accepted: ${describeUsual(facts)}.`;
  const more = `${toDollars(Math.abs(most.dollars))} ${most.dollars < 0 ? 'less' : 'more'}`;
  return `${subject}, ${more} because of ${causeNames[most.name]}: ${most.text}.`;
}

function describeUsual({ bridge, hasBill }: Facts): string {
  if (!hasBill) return 'its traffic is that of the accepted month';
  const find = (name: Step) => bridge.find(({ step }) => step === name)?.dollars ?? 0;
  const toAmount = (name: Step) => toDollars(Math.abs(find(name)));
  const discount = (-100 * find('discounts')) / (find('list') + find('freeTier'));
  const texts: Partial<Record<Step, string>> = {
    unpriced: `and ${toAmount('unpriced')} that cannot be compared`,
    notOurs: `and ${toAmount('notOurs')} that is not of this service`,
    freeTier: `less ${toAmount('freeTier')} of free tier`,
    discounts: `less ${toPercent(discount)} of discounts`,
    commitments: `less ${toAmount('commitments')} that Savings Plans cover`,
    credits: `less ${toAmount('credits')} of credits`,
    corrections: `${find('corrections') < 0 ? 'less' : 'plus'} ${toAmount('corrections')} of refunds and corrections`,
    tax: `plus ${toAmount('tax')} of tax`,
  };
  const parts = bridge.flatMap(({ step }) => texts[step] ?? []);
  return ["the accepted traffic at AWS's list prices", ...parts].join(', ');
}
