import { existsSync } from 'node:fs';
import { sumOf } from '../bills/usage.ts';
import {
  allowances,
  type Price,
  readPrices,
  services,
  toPriceFile,
  toUnitDollars,
  type UsageKind,
  usageKinds,
  usageParts,
  usageTypes,
  withoutRegion,
} from '../prices.ts';
import type { BilledRow } from './readBill.ts';

/** The steps from list prices to what was paid. Those of $0 are left out. */
const stepNames = {
  list: "At AWS's list prices",
  otherPrices: 'Prices other than listed',
  unpriced: 'Without a known list price',
  notOurs: 'Not of this service',
  freeTier: 'Free tier',
  discounts: 'Discounts',
  commitments: 'Covered by Savings Plans',
  credits: 'Credits',
  corrections: 'Refunds and corrections',
  tax: 'Tax',
} as const;
export type Step = keyof typeof stepNames;

/** A kind of usage in one region, against AWS's list. */
export interface PricedLine {
  readonly kind: UsageKind;
  readonly region: string;
  readonly name: string;
  readonly quantity: number;
  readonly freeQuantity: number;
  /** The average dollars of a unit by the list, and of a unit that was billed before discounts. */
  readonly listPrice: number;
  readonly billedPrice: number | undefined;
  readonly list: number;
  readonly net: number;
  /** What prices other than listed made of it. */
  readonly difference: number;
}

interface Named {
  readonly kind?: UsageKind | undefined;
  readonly quantity?: number;
  readonly name: string;
  readonly region: string;
  readonly dollars: number;
}

export type BilledMonth = ReturnType<typeof toBilledMonth>;

/**
 * What a month cost the stage, and each line against the list prices of its own region.
 * @param all the rows of one month, also those of others
 */
export function toBilledMonth(all: readonly BilledRow[]) {
  const shares = toShares(all);
  const steps: Record<Step, number> = {
    ...{ list: 0, otherPrices: 0, unpriced: 0, notOurs: 0, freeTier: 0, discounts: 0 },
    ...{ commitments: 0, credits: 0, corrections: 0, tax: 0 },
  };
  const lines: PricedLine[] = [];
  const notOurs: Named[] = [];
  const unpriced: Named[] = [];
  const own = all.filter((row) => (shares.get(row) ?? 0) > 0);
  const mainRegion = findMainRegion(own);
  const groups = Map.groupBy(
    own.filter(({ category }) => category === 'usage'),
    (row) => {
      const region = row.region || mainRegion;
      return `${toKind(row) ?? `${withoutRegion(row.usageType)} of ${row.service}`} ${region}`;
    },
  );
  for (const rows of groups.values()) {
    const [first] = rows;
    if (!first) continue;
    const sum = (of: readonly BilledRow[], name: 'quantity' | 'list' | 'net') =>
      sumOf(of, (row) => row[name] * (shares.get(row) ?? 0));
    const kind = toKind(first);
    const region = first.region || mainRegion;
    const price = kind && findPrice(kind, region);
    const net = sum(rows, 'net');
    if (kind === undefined || price === undefined) {
      const name = kind ? usageParts[kind][1] : `${first.usageType} of ${first.service}`;
      steps[kind ? 'unpriced' : 'notOurs'] += net;
      const found = { kind, name, region, dollars: net, quantity: sum(rows, 'quantity') };
      if (Math.abs(net) >= 0.005) (kind ? unpriced : notOurs).push(found);
      continue;
    }
    const billed = rows.filter(({ isFree }) => !isFree);
    const committed = billed.filter(({ isCommitted }) => isCommitted);
    const quantity = sum(rows, 'quantity');
    const freeQuantity = quantity - sum(billed, 'quantity');
    // Steps of prices and allowances count all of a bill.
    const alike = all.filter((row) => toKind(row) === kind);
    const inRegion = alike.filter((row) => (row.region || mainRegion) === region);
    const listPrice = toUnitDollars(
      price,
      sumOf(inRegion, (row) => row.quantity),
    );
    const awsList = sum(billed, 'list');
    const isStep = isStepPrice(price, awsList / (quantity - freeQuantity));
    const billedList = isStep ? awsList : (quantity - freeQuantity) * listPrice;
    const allowedPart = toAllowedPart(kind, alike, inRegion);
    const commitments = sum(committed, 'net') - sum(committed, 'list');
    const discounts = net - awsList - commitments;
    // A cost above the list is no discount.
    const more = Math.max(0, discounts);
    const free = freeQuantity * listPrice;
    const difference = awsList - billedList + more - free * (1 - allowedPart);
    const list = billedList + free;
    steps.list += list;
    steps.freeTier -= free * allowedPart;
    steps.otherPrices += difference;
    steps.discounts += discounts - more;
    steps.commitments += commitments;
    const paidQuantity = quantity - freeQuantity * allowedPart;
    const billedPrice = paidQuantity > 0 ? (awsList + more) / paidQuantity : undefined;
    lines.push({
      ...{
        kind,
        region,
        name: usageParts[kind][1],
        quantity,
        freeQuantity,
        listPrice,
        billedPrice,
      },
      ...{ list, net, difference },
    });
  }
  for (const row of own) {
    const dollars = row.net * (shares.get(row) ?? 0);
    if (row.category === 'usage') continue;
    steps[stepOf[row.category]] += dollars;
    if (row.category === 'other')
      notOurs.push({ name: row.usageType || row.service, region: row.region, dollars });
  }
  const usage = sumOf(Object.entries(steps), ([name, dollars]) =>
    isAfterUsage(name) ? 0 : dollars,
  );
  return {
    region: mainRegion,
    accounts: [...new Set(own.filter(({ tag }) => tag === 'own').map(({ account }) => account))],
    bridge: (Object.keys(stepNames) as Step[])
      .map((step) => ({ step, name: stepNames[step], dollars: steps[step] }))
      .filter(({ step, dollars }) => step === 'list' || Math.abs(dollars) >= 0.005),
    /** Before credits, corrections and tax. */
    usage,
    paid: sumOf(Object.values(steps), (dollars) => dollars),
    lines: lines.sort((one, other) => other.list - one.list),
    notOurs,
    /** In regions whose list prices are not known. */
    unpriced,
    /** What the tags leave out: use of our kinds without tags, and what others used. */
    untagged: sumOf(
      all.filter(
        (row) =>
          row.tag === 'none' && row.category === 'usage' && !isUntaggable(row) && toKind(row),
      ),
      ({ net }) => net,
    ),
    shared: sumOf(
      own.filter(({ tag }) => tag === 'none'),
      (row) => row.net * (shares.get(row) ?? 0),
    ),
  };
}

const isAfterUsage = (step: string) => ['credits', 'corrections', 'tax'].includes(step);
const stepOf = {
  commitment: 'commitments',
  discount: 'discounts',
  credit: 'credits',
  correction: 'corrections',
  tax: 'tax',
  other: 'notOurs',
} as const;

/** AWS gives them no tags: https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/cost-alloc-tags.html */
const untaggable: readonly (UsageKind | undefined)[] = [
  'traces',
  'customMetrics',
  'queriedGigabytes',
];
const isUntaggable = (row: BilledRow) => untaggable.includes(toKind(row));

/**
 * The stage's part of each row. A row without tags that AWS cannot tag is shared by list cost: among what the same
 * account used of the same usage type, or else of the same service, or else of all. A negation is shared among what
 * it negates.
 */
function toShares(all: readonly BilledRow[]): ReadonlyMap<BilledRow, number> {
  const shares = new Map<BilledRow, number>();
  for (const row of all) shares.set(row, row.tag === 'own' ? 1 : 0);
  const usage = all.filter(({ category }) => category === 'usage');
  const tagged = usage.filter(({ tag }) => tag !== 'none');
  const untagged = all.filter(({ tag, category }) => tag === 'none' && category !== 'other');
  const isUse = (row: BilledRow) => row.category === 'usage';
  // Usage first, since a tax on it is shared in the same way.
  for (const row of untagged.filter((one) => isUse(one) && isUntaggable(one))) {
    shares.set(row, toShare(row, tagged));
  }
  for (const row of untagged.filter((one) => !isUse(one))) {
    const negated = usage.filter(({ isCommitted }) => isCommitted);
    shares.set(row, toShare(row, row.category === 'commitment' ? negated : usage));
  }
  return shares;

  function toShare(row: BilledRow, among: readonly BilledRow[]): number {
    const inAccount = among.filter(({ account }) => account === row.account);
    const ofService = inAccount.filter(({ service }) => service === row.service);
    const ofType = ofService.filter(({ usageType }) => usageType === row.usageType);
    for (const level of [ofType, ofService, inAccount]) {
      const total = sumOf(level, ({ list }) => list);
      if (total > 0) return sumOf(level, (one) => one.list * (shares.get(one) ?? 0)) / total;
    }
    return 0;
  }
}

/** What the row counts, if the service uses it. */
export function toKind({ service, usageType }: Pick<BilledRow, 'service' | 'usageType'>) {
  const own = withoutRegion(usageType);
  return usageKinds.find((kind) => {
    const [code, name, , alsoNamed] = usageTypes[kind];
    return services[code].test(service) && (own === name || alsoNamed?.test(own));
  });
}

/** The region with most requests of the gateway. */
function findMainRegion(own: readonly BilledRow[]): string {
  const gateway = own.filter(
    (row) => row.category === 'usage' && toKind(row) === 'gatewayRequests',
  );
  const sums = [...Map.groupBy(gateway, ({ region }) => region)].map(
    ([region, rows]) => [region, sumOf(rows, ({ quantity }) => quantity)] as const,
  );
  const [most] = sums.sort(([, one], [, other]) => other - one);
  return most?.[0] ?? own.find(({ region }) => region !== '')?.region ?? '';
}

function findPrice(kind: UsageKind, region: string): Price | undefined {
  return existsSync(toPriceFile(region)) ? readPrices(region).prices[kind] : undefined;
}

/** How much of what was not billed is within AWS's allowance, which is once for a bill, or once for a region. */
function toAllowedPart(
  kind: UsageKind,
  alike: readonly BilledRow[],
  inRegion: readonly BilledRow[],
) {
  const allowance = allowances.find((one) => one.kind === kind);
  if (!allowance) return 0;
  const counted = allowance.isPerRegion ? inRegion : alike;
  const free = sumOf(
    counted.filter(({ isFree }) => isFree),
    ({ quantity }) => quantity,
  );
  return free > 0 ? Math.min(1, allowance.amount / free) : 1;
}

/** Whether it is the price of a step: a bill of one account does not tell which step all of an organization reached. */
function isStepPrice(price: Price, average: number): boolean {
  const steps = typeof price === 'number' ? [] : price;
  return steps.some(({ dollars }) => Math.abs(average / dollars - 1) < 0.001);
}
