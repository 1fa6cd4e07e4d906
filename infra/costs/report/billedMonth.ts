import { existsSync } from 'node:fs';
import { sumOf, toRecord } from '../bills/usage.ts';
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
  withoutRegion,
} from '../prices.ts';
import { type BilledRow, type Step, stepNames } from './readBill.ts';

const steps = Object.keys(stepNames) as Step[];

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

/** What was not compared with a list. */
interface Unlisted {
  readonly kind?: UsageKind | undefined;
  readonly quantity?: number;
  readonly name: string;
  readonly region: string;
  readonly dollars: number;
}

interface SharedRow extends BilledRow {
  readonly kind: UsageKind | undefined;
  /** The stage's part of it. */
  share: number;
}

export type BilledMonth = ReturnType<typeof priceBill>;

/**
 * What a month cost the stage, and each line against the list prices of its own region.
 * @param rows of one month, also those of others
 */
export function priceBill(rows: readonly BilledRow[]) {
  const shared = shareRows(rows);
  const mainRegion = findMainRegion(shared.filter(({ share }) => share > 0));
  const all = shared.map((row) =>
    row.category === 'notOurs' ? row : { ...row, region: row.region || mainRegion },
  );
  const own = all.filter(({ share }) => share > 0);
  const sum = (of: readonly SharedRow[], name: 'quantity' | 'list' | 'net') =>
    sumOf(of, (row) => row[name] * row.share);
  const bridge = toRecord(steps, () => 0);
  const lines: PricedLine[] = [];
  const unlisted: { notOurs: Unlisted[]; unpriced: Unlisted[] } = { notOurs: [], unpriced: [] };
  const groups = Map.groupBy(
    own.filter(({ category }) => category === 'usage'),
    ({ kind, region, usageType, service }) =>
      `${kind ?? `${withoutRegion(usageType)} of ${service}`} ${region}`,
  );
  for (const used of groups.values()) {
    const [first] = used as [SharedRow];
    const { kind, region } = first;
    const net = sum(used, 'net');
    const quantity = sum(used, 'quantity');
    const price = kind && findPrice(kind, region);
    if (kind === undefined || price === undefined) {
      const step = kind ? 'unpriced' : 'notOurs';
      const name = kind ? usageParts[kind][1] : `${first.usageType} of ${first.service}`;
      bridge[step] += net;
      if (Math.abs(net) >= 0.005)
        unlisted[step].push({ kind, name, region, dollars: net, quantity });
      continue;
    }
    const billed = used.filter(({ isFree }) => !isFree);
    const billedQuantity = sum(billed, 'quantity');
    const freeQuantity = quantity - billedQuantity;
    // Steps of prices and allowances count all of a bill.
    const alike = all.filter((row) => row.kind === kind);
    const inRegion = alike.filter((row) => row.region === region);
    const listPrice = toUnitDollars(
      price,
      sumOf(inRegion, (row) => row.quantity),
    );
    const awsList = sum(billed, 'list');
    const billedList = isStepPrice(price, awsList / billedQuantity)
      ? awsList
      : billedQuantity * listPrice;
    const committed = billed.filter(({ isCommitted }) => isCommitted);
    const commitments = sum(committed, 'net') - sum(committed, 'list');
    const discounts = net - awsList - commitments;
    // A cost above the list is no discount.
    const more = Math.max(0, discounts);
    const free = freeQuantity * listPrice;
    const allowedPart = findAllowedPart(kind, alike, inRegion);
    const difference = awsList - billedList + more - free * (1 - allowedPart);
    const list = billedList + free;
    bridge.list += list;
    bridge.freeTier -= free * allowedPart;
    bridge.otherPrices += difference;
    bridge.discounts += discounts - more;
    bridge.commitments += commitments;
    const paidQuantity = quantity - freeQuantity * allowedPart;
    const billedPrice = paidQuantity > 0 ? (awsList + more) / paidQuantity : undefined;
    const name = usageParts[kind][1];
    const prices = { listPrice, billedPrice };
    lines.push({ kind, region, name, quantity, freeQuantity, ...prices, list, net, difference });
  }
  for (const { category, net, share, usageType, service, region } of own) {
    if (category === 'usage') continue;
    const dollars = net * share;
    bridge[category] += dollars;
    if (category === 'notOurs')
      unlisted.notOurs.push({ name: usageType || service, region, dollars });
  }
  const paid = sumOf(steps, (step) => bridge[step]);
  const isOurs = ({ category, kind }: SharedRow) =>
    category === 'usage' && kind && !untaggable.includes(kind);
  const untagged = all.filter((row) => row.tag === 'none');
  return {
    region: mainRegion,
    accounts: [...new Set(own.filter(({ tag }) => tag === 'own').map(({ account }) => account))],
    bridge: steps
      .map((step) => ({ step, name: stepNames[step], dollars: bridge[step] }))
      .filter(({ step, dollars }) => step === 'list' || Math.abs(dollars) >= 0.005),
    /** Before credits, corrections and tax. */
    usage: paid - bridge.credits - bridge.corrections - bridge.tax,
    paid,
    lines: lines.sort((one, other) => other.list - one.list),
    notOurs: unlisted.notOurs,
    /** In regions whose list prices are not known. */
    unpriced: unlisted.unpriced,
    /** What the tags leave out: use of our kinds without tags. */
    untagged: sumOf(untagged.filter(isOurs), ({ net }) => net),
    shared: sum(untagged, 'net'),
  };
}

/** AWS gives them no tags: https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/cost-alloc-tags.html */
const untaggable: readonly UsageKind[] = ['traces', 'customMetrics', 'queriedGigabytes'];

/**
 * The stage's part of each row. A row without tags that AWS cannot tag is shared by list cost: among what the same
 * account used of the same usage type, or else of the same service, or else of all. A negation is shared among what
 * it negates.
 */
function shareRows(all: readonly BilledRow[]): SharedRow[] {
  const rows = all.map((row): SharedRow => {
    return { ...row, kind: findKind(row), share: row.tag === 'own' ? 1 : 0 };
  });
  const usage = rows.filter(({ category }) => category === 'usage');
  const tagged = usage.filter(({ tag }) => tag !== 'none');
  const committed = usage.filter(({ isCommitted }) => isCommitted);
  const untagged = rows.filter(({ tag, category }) => tag === 'none' && category !== 'notOurs');
  const [used, others] = [untagged.filter(isUse), untagged.filter((row) => !isUse(row))];
  // Usage first, since a tax on it is shared in the same way.
  for (const row of used) if (row.kind && untaggable.includes(row.kind)) share(row, tagged);
  for (const row of others) share(row, row.category === 'commitments' ? committed : usage);
  return rows;

  function share(row: SharedRow, among: readonly SharedRow[]): void {
    const inAccount = among.filter(({ account }) => account === row.account);
    const ofService = inAccount.filter(({ service }) => service === row.service);
    const ofType = ofService.filter(({ usageType }) => usageType === row.usageType);
    for (const level of [inAccount, ofService, ofType]) {
      const total = sumOf(level, ({ list }) => list);
      if (total > 0) row.share = sumOf(level, (one) => one.list * one.share) / total;
    }
  }
}

const isUse = ({ category }: BilledRow) => category === 'usage';

/** What the row counts, if the service uses it. */
function findKind({ service, usageType }: BilledRow): UsageKind | undefined {
  const own = withoutRegion(usageType);
  return usageKinds.find((kind) => {
    const [, , code, name, others] = usageParts[kind];
    return services[code].test(service) && (own === name || others?.test(own));
  });
}

/** The region with most requests of the gateway. */
function findMainRegion(own: readonly SharedRow[]): string {
  const gateway = own.filter((row) => isUse(row) && row.kind === 'gatewayRequests');
  const [most] = [...Map.groupBy(gateway, ({ region }) => region)]
    .map(([region, rows]) => ({ region, requests: sumOf(rows, ({ quantity }) => quantity) }))
    .sort((one, other) => other.requests - one.requests);
  return (most ?? own.find(({ region }) => region !== ''))?.region ?? '';
}

function findPrice(kind: UsageKind, region: string): Price | undefined {
  return existsSync(toPriceFile(region)) ? readPrices(region).prices[kind] : undefined;
}

/** How much of what was not billed is within AWS's allowance, which is once for a bill, or once for a region. */
function findAllowedPart(
  kind: UsageKind,
  alike: readonly BilledRow[],
  inRegion: readonly BilledRow[],
): number {
  const allowance = allowances.find((one) => one.kind === kind);
  if (!allowance) return 0;
  const counted = (allowance.isPerRegion ? inRegion : alike).filter(({ isFree }) => isFree);
  const free = sumOf(counted, ({ quantity }) => quantity);
  return free > 0 ? Math.min(1, allowance.amount / free) : 1;
}

/** Whether it is the price of a step: a bill of one account does not tell which step all of an organization reached. */
function isStepPrice(price: Price, average: number): boolean {
  const listed = typeof price === 'number' ? [] : price;
  return listed.some(({ dollars }) => Math.abs(average / dollars - 1) < 0.001);
}
