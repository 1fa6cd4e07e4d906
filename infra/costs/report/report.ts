import type { OperationId } from '../../../shared/contract/operations.ts';
import { operationIds } from '../../../shared/contract/operations.ts';
import { toTags } from '../../stages/resourceNames.ts';
import { type Stage, stagesFile } from '../../stages/stages.ts';
import { findSales, priceSales } from '../bills/costReport.ts';
import { type Month, priceMonth, readPricing } from '../bills/monthlyBill.ts';
import { readCommittedTraffic, sumRequests, type Traffic } from '../bills/traffic.ts';
import { sumDollars, sumOf, sumUsage } from '../bills/usage.ts';
import { readAccepted } from '../checkMonths.ts';
import {
  DAY_MILLISECONDS,
  type DayRange,
  toDay,
  toToday,
  withMetrics,
  withRegion,
} from '../costOptions.ts';
import type { PricedStage } from '../figures.ts';
import { readPrices, type UsageKind, usageKinds } from '../prices.ts';
import { toBilledTraffic, toLoggedTraffic, toMixOf } from './accountedTraffic.ts';
import { type BilledMonth, toBilledMonth } from './billedMonth.ts';
import { toForecast } from './forecast.ts';
import {
  type Cause,
  capitalize,
  findBillCause,
  findForeignCause,
  findPriceCause,
  findTrafficCause,
  findUseCause,
  toDate,
  toDollars,
  toMonthName,
  toPercent,
  toUsedLines,
} from './judgeMonth.ts';
import { type KeyCost, toKeyCosts, toKeyTotals } from './keyCosts.ts';
import type { openLogs } from './logRows.ts';
import type { Bill } from './readBill.ts';

type Logs = NonNullable<Awaited<ReturnType<typeof openLogs>>>;
export type Report = Awaited<ReturnType<typeof toReport>>;

/** All that the page shows, made of a bill, of a stage's logs, or of both. The verdict is one sentence. */
export async function toReport(...made: Parameters<typeof toFacts>) {
  const facts = await toFacts(...made);
  return { verdict: toVerdict(facts), ...facts };
}

async function toFacts(
  named: Stage,
  month: DayRange & { readonly name: string },
  bill: Bill | undefined,
  logs: Logs | undefined,
  accounts: readonly string[],
) {
  const billed = bill && toOwnMonth(bill, month.name, named, accounts);
  const stage = await withMetrics(
    logs && !billed ? logs.stage : withRegion(named, billed?.region || undefined),
  );
  const { name, settings } = stage;
  const { region } = settings;
  const table = readPrices(region);
  const all = toDayCount(month);
  const today = toToday();
  const days = toDays(bill, logs, month, today);
  const share = days.count / all;
  const accepted = readCommittedTraffic();
  const traffic = toTraffic(stage, accepted, month.name, bill, billed, logs, share, all);
  const acceptedMonth = priceMonth(stage, accepted);
  const pricing = readPricing(stage, sumRequests(traffic));
  const expectedMonth = priceMonth(stage, traffic, pricing);
  const keys = logs && toKeyCosts(logs.rows, logs.volume, logs.stage);
  const ofLogs = (logs ? toDayCount(logs.days) : 0) / all;
  const fixed = expectedMonth.fixed * ofLogs;
  const usage = billed?.usage ?? sumOf(keys ?? [], ({ total }) => total) + fixed;
  const paid = billed?.paid ?? usage;
  const used = billed ? sumKinds(billed) : toLoggedUse(stage, accepted, keys ?? [], share);
  const usedLines = toUsedLines(
    used,
    expectedMonth.usage,
    acceptedMonth.usage,
    table.prices,
    share,
  );
  const causes = [
    ...(bill ? findBillCause(bill, month, today, billed?.untagged ?? 0) : []),
    ...(billed ? [...findPriceCause(billed), ...findForeignCause(billed)] : []),
    ...findTrafficCause(usedLines, bill?.isDaily ? bill.days : []),
    ...findUseCause(usedLines),
  ];
  const forecast = toForecast(
    stage,
    month.name,
    usage,
    (usage * expectedMonth.requests) / expectedMonth.total,
    bill?.isDaily ? bill.days.map(({ requests }) => requests) : (logs?.dailyBytes ?? []),
    { all, known: days.count, isOver: month.end <= today },
    readAccepted()[name],
  );
  const sales = keys
    ? (sumOf(keys, (one) => one.sales) * share) / ofLogs
    : countSales(traffic) * share;
  const [ofSale] = priceSales(pricing, expectedMonth);
  return {
    ...{ stage: name, month: month.name, region, pricesAsOf: table.asOf },
    ...{ tags: toTags(stage), accounts: billed?.accounts ?? [] },
    ...{
      from: toDay(billed ? month.from : (logs?.days.from ?? month.from)),
      to: days.last,
      share,
      isRunning: month.end > today,
    },
    ...{ hasBill: bill !== undefined, billLines: bill?.lines },
    causes,
    paid,
    usage,
    bridge: billed?.bridge ?? [],
    lines: billed?.lines ?? [],
    notOurs: billed?.notOurs ?? [],
    unpriced: billed?.unpriced ?? [],
    untagged: billed?.untagged ?? 0,
    shared: billed?.shared ?? 0,
    accepted: acceptedMonth.total * share,
    traffic: {
      source: traffic.source,
      requests: sumRequests(traffic) * share,
      accepted: sumRequests(accepted) * share,
      days: bill?.isDaily ? bill.days : [],
      usage: usedLines,
      /** For `--traffic`, or `infra/costs/traffic.json`. */
      file: {
        entries: traffic.entries,
        requests: Object.fromEntries(
          traffic.shares
            .filter(({ requests }) => requests >= 0.5)
            .map(({ operationId, response, requests }) => [
              `${operationId}${response === '200' ? '' : ` ${response}`}`,
              Math.round(requests),
            ]),
        ),
      },
    },
    sales: {
      count: sales,
      /** Of a thousand: all costs, and what a thousand more would add. */
      full: sales > 0 ? (1_000 * paid) / sales : undefined,
      marginal: (ofSale?.marginal ?? 0) / 1_000,
    },
    months: bill ? toMonths(bill, stage, accepted, month.name, sales) : [],
    operations: toOperations(expectedMonth, share),
    customers: keys
      ? toKeyTotals(keys, fixed, ofLogs).sort((one, other) => other.total - one.total)
      : [],
    forecast,
  };
}

/** The month of the bill. @throws {Error} if it has nothing of the stage */
function toOwnMonth(
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
  const { service, stage: tag } = toTags(stage);
  const own = ofMonth.filter((row) => row.tag === 'own' && row.category === 'usage');
  if (own.length === 0) {
    const among = accounts.length > 0 ? ` in account ${accounts.join(' or ')}` : '';
    const others = [...new Set(ofMonth.map(({ account }) => account))].join(', ');
    throw new Error(
      `The bill has no line of ${month} with the tags service "${service}" and stage "${tag}"${among}; its lines are of account ${others}. Activate both tags as cost allocation tags; AWS tags what is used from the next day on.`,
    );
  }
  const billed = toBilledMonth(ofMonth);
  const { region } = stage.settings;
  if (region !== undefined && own.every((row) => row.region !== '' && row.region !== region)) {
    throw new Error(
      `The bill has ${stage.name} in ${billed.region}, and ${stagesFile} puts it into ${region}. Give the bill of that stage, or correct the settings.`,
    );
  }
  return billed;
}

/** How many days are known, and the last of them. */
function toDays(bill: Bill | undefined, logs: Logs | undefined, month: DayRange, today: number) {
  const end = Math.min(month.end, today);
  const elapsed = { count: toDayCount({ from: month.from, end }), last: toDay(end - 1) };
  if (bill?.isDaily)
    return { count: bill.days.length, last: bill.days.at(-1)?.day ?? elapsed.last };
  if (bill || !logs) return elapsed;
  return { count: toDayCount(logs.days), last: elapsed.last };
}

/** What the logs count, or else the bill. */
function toTraffic(
  stage: PricedStage,
  accepted: Traffic,
  month: string,
  bill: Bill | undefined,
  billed: BilledMonth | undefined,
  logs: Logs | undefined,
  share: number,
  monthDays = 1,
): Traffic {
  const logged = logs && toLoggedTraffic(logs.rows, accepted, toDayCount(logs.days) / monthDays);
  if (!bill) return logged ?? accepted;
  const calls = bill.calls.filter((one) => one.month === month);
  const requests = sumKinds(billed).get('gatewayRequests') ?? 0;
  const ofBill = toBilledTraffic(stage, accepted, calls, requests, share);
  return logged ? toMixOf(logged, ofBill) : ofBill;
}

const countSales = ({ shares }: Traffic) => sumRequests({ shares: findSales(shares) });

const toDayCount = ({ from, end }: DayRange) => (end - from) / DAY_MILLISECONDS;

function sumKinds(billed: BilledMonth | undefined): ReadonlyMap<UsageKind, number> {
  const sums = new Map<UsageKind, number>();
  for (const { kind, quantity = 0 } of [...(billed?.lines ?? []), ...(billed?.unpriced ?? [])]) {
    if (kind) sums.set(kind, (sums.get(kind) ?? 0) + quantity);
  }
  return sums;
}

/** What the logs count, and what is fixed. */
function toLoggedUse(
  stage: PricedStage,
  accepted: Traffic,
  keys: readonly KeyCost[],
  share: number,
) {
  const { usage: fixed } = priceMonth(stage, { ...accepted, shares: [] });
  const logged = sumUsage(keys.map(({ usage }) => usage));
  return new Map<UsageKind, number>(
    usageKinds.map((kind) => [kind, logged[kind] + share * fixed[kind]]),
  );
}

/**
 * The months of the bill, each with what a thousand sales cost.
 * @param sales of the month, which the logs may count: the others had as many for their traffic
 */
function toMonths(
  bill: Bill,
  stage: PricedStage,
  accepted: Traffic,
  reported: string,
  sales: number,
) {
  const all = [...Map.groupBy(bill.rows, ({ month }) => month)].flatMap(([month, rows]) => {
    const billed = toBilledMonth(rows);
    if (billed.lines.length === 0) return [];
    const traffic = toTraffic(stage, accepted, month, bill, billed, undefined, 1);
    return [{ month, paid: billed.paid, sales: countSales(traffic) }];
  });
  const factor = sales / (all.find(({ month }) => month === reported)?.sales || 1);
  return all.map((one) => ({
    ...{ ...one, sales: one.sales * factor },
    perThousandSales:
      one.sales * factor > 0 ? (1_000 * one.paid) / (one.sales * factor) : undefined,
  }));
}

/** What the requests of each operation cost by the model, most expensive first. */
function toOperations({ shares }: Month, share: number) {
  const toRow = (operationId: OperationId) => {
    const own = shares.filter((one) => one.operationId === operationId);
    const requests = sumRequests({ shares: own });
    const dollars = sumOf(own, (one) => sumDollars(one.dollars));
    return {
      operationId,
      requests: requests * share,
      dollars: dollars * share,
      dollarsPerMillion: requests > 0 ? (1e6 * dollars) / requests : 0,
    };
  };
  return operationIds
    .map(toRow)
    .filter(({ requests }) => requests > 0)
    .sort((one, other) => other.dollars - one.dollars);
}

type Facts = Awaited<ReturnType<typeof toFacts>>;

/** One sentence: what the month cost, and the largest cause of its difference from the accepted month. */
function toVerdict(report: Facts): string {
  const { stage, month, paid, causes, hasBill, isRunning, from, to, forecast, share } = report;
  const incomplete = causes.find(({ name }) => name === 'bill');
  if (incomplete) {
    return `The bill of ${toMonthName(month)} does not say yet what ${stage} cost: ${incomplete.text}.`;
  }
  const name = toMonthName(month);
  const subject = hasBill
    ? `${capitalize(stage)} cost ${toDollars(paid)} in ${name}${isRunning ? ` until ${toDate(to)}` : ''}`
    : isRunning
      ? `${capitalize(stage)} will cost ${toDollars(forecast.expected)} in ${name}`
      : `${capitalize(stage)} used ${toDollars(paid)} at list prices ${share < 1 ? `from ${toDate(from)} to ${toDate(to)}` : `in ${name}`}`;
  const [most] = causes.toSorted((one, other) => Math.abs(other.dollars) - Math.abs(one.dollars));
  if (!most) return `${subject}, as accepted: ${toUsualText(report)}.`;
  const more = `${toDollars(Math.abs(most.dollars))} ${most.dollars < 0 ? 'less' : 'more'}`;
  return `${subject}, ${more} because of ${causeNames[most.name]}: ${most.text}.`;
}

const causeNames: Readonly<Record<Cause['name'], string>> = {
  bill: 'the bill',
  price: 'a price',
  traffic: 'traffic',
  use: 'its use',
  'not ours': 'something that is not ours',
};

function toUsualText({ bridge, hasBill }: Facts): string {
  if (!hasBill) return 'its traffic is that of the accepted month';
  const list = bridge.find(({ step }) => step === 'list')?.dollars ?? 0;
  const free = bridge.find(({ step }) => step === 'freeTier')?.dollars ?? 0;
  const parts = bridge.flatMap(({ step, dollars }) => {
    const text = toDollars(Math.abs(dollars));
    if (step === 'freeTier') return [`less ${text} of free tier`];
    if (step === 'discounts')
      return [`less ${toPercent((-100 * dollars) / (list + free))} of discounts`];
    if (step === 'commitments') return [`less ${text} that Savings Plans cover`];
    if (step === 'credits') return [`less ${text} of credits`];
    if (step === 'corrections')
      return [`${dollars < 0 ? 'less' : 'plus'} ${text} of refunds and corrections`];
    if (step === 'tax') return [`plus ${text} of tax`];
    if (step === 'unpriced') return [`and ${text} that cannot be compared`];
    if (step === 'notOurs') return [`and ${text} that is not of this service`];
    return [];
  });
  return `the accepted traffic at AWS's list prices${parts.map((part) => `, ${part}`).join('')}`;
}
