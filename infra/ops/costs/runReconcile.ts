import { toColumns, writeOut } from '../../cli/output.ts';
import { parseStage, toRegion } from '../../cli/stageOption.ts';
import { toFixedUsage } from '../../costs/bills/fixedCosts.ts';
import { toRequestsBill, toStagePricing } from '../../costs/bills/monthlyBill.ts';
import { sumRequests, type Traffic } from '../../costs/bills/traffic.ts';
import { usageKinds } from '../../costs/bills/usage.ts';
import { pricedRegions, type UsageKind } from '../../costs/prices.ts';
import { toTags } from '../../stages/resourceNames.ts';
import type { StageSettings } from '../../stages/stageSettings.ts';
import { type CostOptions, readTraffic, warnOfPrices } from './costOptions.ts';
import { type DayRange, parseDayRange, splitByMonth } from './dayRange.ts';
import { type BilledLine, readExport } from './readExport.ts';

/**
 * Prints what was billed beside what the model says of the same time.
 * @param file the export
 * @throws {UsageError} when what was typed makes no sense
 * @throws {Error} when the export cannot be read
 */
export async function runReconcile(file: string, options: CostOptions): Promise<void> {
  const stage = parseStage(options.stage ?? 'production');
  const isAll = options.from === undefined && options.to === undefined;
  const days = isAll ? undefined : parseDayRange(options);
  // What is billed by the month is billed by the hour: of each month, the part that the days are.
  const months = days ? splitByMonth(days).reduce((sum, { share }) => sum + share, 0) : 1;
  warnOfPrices(toRegion(stage).region ?? pricedRegions[0]);
  const modelled = toModelledUsage(stage.settings, readTraffic(options), months);
  const found = await reconcile(readExport(file), days, modelled, toTags(stage));
  await writeOut(`${options.json ? JSON.stringify(found, null, 2) : toText(found)}\n`);
}

interface Amount {
  readonly quantity: number;
  readonly dollars: number;
}

/** What was billed under one usage type; with what it is, where it is no use, such as `(Credit)`. */
interface BilledUsage extends Amount {
  readonly service: string;
  readonly usageType: string;
}

export interface Reconciliation {
  readonly usage: ReturnType<typeof compare>[];
  /** The stage's, of which the model knows nothing; the most expensive first. */
  readonly unexplained: readonly BilledUsage[];
  /** Of other services, of other stages, or without a tag; the most expensive first. */
  readonly others: readonly BilledUsage[];
}

/**
 * Holds the lines of the days against the model. Only sums are kept of them.
 * @param tags those of the stage's own lines
 */
async function reconcile(
  lines: AsyncIterable<BilledLine>,
  days: DayRange | undefined,
  modelled: readonly ModelledUsage[],
  tags: { readonly service: string; readonly stage: string },
): Promise<Reconciliation> {
  const billed = new Map<ModelledUsage, Amount>();
  const unexplained = new Map<string, BilledUsage>();
  const others = new Map<string, BilledUsage>();
  for await (const line of lines) {
    if (days && (line.start < days.from || line.start >= days.end)) continue;
    const { stage, service = tags.service } = line.tags;
    const isOwn = stage === tags.stage && service === tags.service;
    const usage = isOwn ? modelled.find((one) => isOf(line, one)) : undefined;
    if (usage) billed.set(usage, addAmount(billed.get(usage), line));
    else {
      const { service, kind } = line;
      const usageType = kind === 'Usage' ? line.usageType : `${line.usageType} (${kind})`.trim();
      const [sums, key] = [isOwn ? unexplained : others, `${service}\n${usageType}`];
      sums.set(key, { service, usageType, ...addAmount(sums.get(key), line) });
    }
  }
  const sort = (sums: ReadonlyMap<string, BilledUsage>) =>
    [...sums.values()].sort((one, other) => other.dollars - one.dollars);
  return {
    usage: modelled.map((usage) => compare(usage, billed.get(usage) ?? none)),
    unexplained: sort(unexplained),
    others: sort(others),
  };
}

const none: Amount = { quantity: 0, dollars: 0 };
function addAmount(sum: Amount = none, { quantity, dollars }: Amount): Amount {
  return { quantity: sum.quantity + quantity, dollars: sum.dollars + dollars };
}

/** A usage type as billed and as modelled, and the model's errors in per cent of what was billed. */
function compare({ usageType, unit, quantity, dollars }: ModelledUsage, billed: Amount) {
  return {
    usageType,
    unit,
    billed,
    modelled: { quantity, dollars },
    quantityError: toError(quantity, billed.quantity),
    /** Of a unit's price. */
    priceError: toError(dollars / quantity, billed.dollars / billed.quantity),
    dollarsError: toError(dollars, billed.dollars),
  };
}

/** None where nothing was billed, such as within a free allowance. */
function toError(modelled: number, billed: number): number | undefined {
  return billed > 0 ? (100 * (modelled - billed)) / billed : undefined;
}

function isOf(line: BilledLine, { service, usageType, alsoNamed }: ModelledUsage): boolean {
  const isNamed = line.usageType === usageType || alsoNamed?.test(line.usageType);
  return line.kind === 'Usage' && service.test(line.service) && isNamed === true;
}

interface UsageType {
  /** As AWS names it, without the region. */
  readonly usageType: string;
  /** Whose usage type it is, since several services have one of the same name. */
  readonly service: RegExp;
  readonly unit: string;
  /** Others that AWS bills the same by. */
  readonly alsoNamed?: RegExp;
}

/** What the model says of one usage type. */
interface ModelledUsage extends UsageType, Amount {}

const [apiGateway, lambda, dynamoDb] = [/api ?gateway/i, /lambda/i, /dynamodb/i];
const [cloudWatch, firewall, keys] = [/cloudwatch/i, /waf/i, /kms|key management/i];

/** What AWS calls the units of the model. */
const usageTypes: Readonly<Record<UsageKind, UsageType>> = {
  gatewayRequests: { usageType: 'ApiGatewayRequest', service: apiGateway, unit: 'requests' },
  functionCalls: { usageType: 'Request-ARM', service: lambda, unit: 'requests' },
  gigabyteSeconds: { usageType: 'Lambda-GB-Second-ARM', service: lambda, unit: 'GB-seconds' },
  streamedGigabytes: {
    ...{ usageType: 'streamed bytes', service: lambda, unit: 'GB' },
    alsoNamed: /stream/i,
  },
  readUnits: { usageType: 'ReadRequestUnits', service: dynamoDb, unit: 'units' },
  writeUnits: { usageType: 'WriteRequestUnits', service: dynamoDb, unit: 'units' },
  // Of whichever service the bytes left.
  sentGigabytes: { usageType: 'DataTransfer-Out-Bytes', service: /./, unit: 'GB' },
  loggedGigabytes: {
    ...{ usageType: 'DataProcessing-Bytes', service: cloudWatch, unit: 'GB' },
    // Lambda's logs are billed as those that AWS itself writes.
    alsoNamed: /^VendedLog-Bytes$/,
  },
  traces: { usageType: 'XRay-TracesStored', service: /x-?ray/i, unit: 'traces' },
  firewallRequests: { usageType: 'RequestV2-Tier1', service: firewall, unit: 'requests' },
  alarmMetrics: {
    usageType: 'CW:AlarmMonitorUsage',
    service: cloudWatch,
    unit: 'alarm metrics',
  },
  customMetrics: { usageType: 'CW:MetricMonitorUsage', service: cloudWatch, unit: 'metrics' },
  encryptionKeys: { usageType: 'KMS-Keys', service: keys, unit: 'keys' },
  storedLogGigabytes: {
    usageType: 'TimedStorage-ByteHrs',
    service: cloudWatch,
    unit: 'GB-months',
  },
  storedGigabytes: { usageType: 'TimedStorage-ByteHrs', service: dynamoDb, unit: 'GB-months' },
  backedUpGigabytes: {
    usageType: 'TimedPITRStorage-ByteHrs',
    service: dynamoDb,
    unit: 'GB-months',
  },
  firewalls: { usageType: 'WebACLV2', service: firewall, unit: 'web ACLs' },
  firewallRules: { usageType: 'RuleV2', service: firewall, unit: 'rules' },
};

/**
 * A bill by usage types, as the model has it: quantities beside dollars, so that an error of the one is
 * told from an error of the other. Types of which there is nothing are left out.
 * @param months how many months the time is that was billed
 */
export function toModelledUsage(
  settings: StageSettings,
  traffic: Traffic,
  months: number,
): ModelledUsage[] {
  const pricing = toStagePricing(settings, sumRequests(traffic));
  const { usage, rates } = toRequestsBill(traffic, pricing);
  const fixed = toFixedUsage(settings, traffic.entries, pricing.sizes, usage.loggedGigabytes);
  return usageKinds.flatMap((kind) => {
    const quantity = usage[kind] + (fixed[kind] ?? 0) * months;
    return quantity > 0 ? [{ ...usageTypes[kind], quantity, dollars: quantity * rates[kind] }] : [];
  });
}

/** Of what is not the service's, so many usage types are shown. */
const MAX_OTHERS = 10;

/** For people: what the model explains, what it does not, and what is not the service's. */
function toText({ usage, unexplained, others }: Reconciliation): string {
  const rows = usage.map(({ usageType, unit, billed, modelled, ...errors }) => [
    ...[usageType, unit, toQuantity(billed.quantity), toQuantity(modelled.quantity)],
    ...[errors.quantityError, errors.priceError].map(toPercent),
    ...[billed.dollars.toFixed(2), modelled.dollars.toFixed(2), toPercent(errors.dollarsError)],
  ]);
  const billed = sumAmounts(usage.map((row) => row.billed));
  const modelled = sumAmounts(usage.map((row) => row.modelled));
  const head = [
    ...['usage type', 'unit', 'billed', 'modelled', 'quantity error', 'price error'],
    ...['billed $', 'modelled $', 'dollars error'],
  ];
  return [
    toColumns([head, ...rows]),
    `All of these: $${billed.toFixed(2)} billed, $${modelled.toFixed(2)} modelled, ${toPercent(toError(modelled, billed))}`,
    toList('Not explained', unexplained),
    toList('Not this service, the most expensive', others.slice(0, MAX_OTHERS)),
  ].join('\n\n');
}

function toList(title: string, usage: readonly BilledUsage[]): string {
  const rows = usage.map(({ service, usageType, quantity, dollars }) => [
    ...[service, usageType, toQuantity(quantity), `$${dollars.toFixed(2)}`],
  ]);
  return `${title}: $${sumAmounts(usage).toFixed(2)}\n${toColumns(rows)}`.trim();
}

function sumAmounts(amounts: readonly Amount[]): number {
  return amounts.reduce((sum, { dollars }) => sum + dollars, 0);
}

function toQuantity(quantity: number): string {
  return quantity.toLocaleString('en-US', { maximumSignificantDigits: 6 });
}

function toPercent(error: number | undefined): string {
  if (error === undefined) return '-';
  return `${error < 0 ? '' : '+'}${error.toFixed(1)} %`;
}
