import { toColumns, writeOut } from '../../cli/output.ts';
import { parseStage } from '../../cli/stageOption.ts';
import { UsageError } from '../../cli/usage.ts';
import {
  GIGABYTE_SECONDS_OF_A_CHECK,
  STORED_BYTES_OF_AN_ENTRY,
  toFixedUnits,
} from '../../costs/bills/fixedCosts.ts';
import { toRequestsBill, toStagePricing } from '../../costs/bills/monthlyBill.ts';
import { sumRequests, type Traffic } from '../../costs/bills/traffic.ts';
import { GIGABYTE, type UsageKind, usageKinds } from '../../costs/bills/usage.ts';
import type { PriceTable } from '../../costs/prices.ts';
import { toTags } from '../../stages/resourceNames.ts';
import type { StageSettings } from '../../stages/stageSettings.ts';
import { type ReconcileOptions, readPrices, readTraffic } from './costOptions.ts';
import { type DayRange, parseDayRange, splitByMonth, toMonth } from './dayRange.ts';
import { type BilledLine, readExport } from './readExport.ts';

/**
 * Prints what was billed beside what the model says of the same time.
 * @throws {UsageError} when what was typed makes no sense
 * @throws {Error} when the export cannot be read
 */
export async function runReconcile(options: ReconcileOptions): Promise<void> {
  const { reconcile: file = '', from, to, json } = options;
  if (file === '') throw new UsageError('--reconcile must name an export of the costs.');
  const stage = parseStage(options.stage);
  const days = from === undefined && to === undefined ? undefined : parseDayRange({ from, to });
  const modelled = toModelledUsage({
    settings: stage.settings,
    prices: readPrices(options.region, stage).prices,
    traffic: readTraffic(options),
    months: days ? countMonths(days) : 1,
  });
  const found = await reconcile(readExport(file, days), modelled, toTags(stage));
  await writeOut(`${json ? JSON.stringify(found, null, 2) : toReconciliationText(found)}\n`);
}

/** What is billed by the month is billed by the hour: of each month, the part that the days are. */
function countMonths(days: DayRange): number {
  return splitByMonth(days).reduce((sum, part) => {
    const month = toMonth(part.from);
    return sum + (part.end - part.from) / (month.end - month.from);
  }, 0);
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
 * Holds the lines against the model. Only sums are kept of them.
 * @param tags those of the stage's own lines
 */
async function reconcile(
  lines: AsyncIterable<readonly BilledLine[]>,
  modelled: readonly ModelledUsage[],
  tags: { readonly service: string; readonly stage: string },
): Promise<Reconciliation> {
  const billed = modelled.map(() => ({ quantity: 0, dollars: 0 }));
  const unexplained = new Map<string, BilledUsage>();
  const others = new Map<string, BilledUsage>();
  for await (const some of lines) {
    for (const line of some) {
      const { stage, service } = line.tags;
      const isOwn = stage === tags.stage && (service || tags.service) === tags.service;
      const amount = billed[isOwn ? modelled.findIndex((usage) => isOf(line, usage)) : -1];
      if (amount) {
        amount.quantity += line.quantity;
        amount.dollars += line.dollars;
      } else add(isOwn ? unexplained : others, line);
    }
  }
  const sort = (sums: ReadonlyMap<string, BilledUsage>) =>
    [...sums.values()].sort((one, other) => other.dollars - one.dollars);
  return {
    usage: modelled.map((usage, index) => compare(usage, billed[index] ?? usage)),
    unexplained: sort(unexplained),
    others: sort(others),
  };
}

function isOf(line: BilledLine, { service, usageType, alsoNamed }: ModelledUsage): boolean {
  return (
    line.kind === 'Usage' &&
    service.test(line.service) &&
    (line.usageType === usageType || (alsoNamed?.test(line.usageType) ?? false))
  );
}

function add(sums: Map<string, BilledUsage>, line: BilledLine): void {
  const { service, quantity, dollars, kind } = line;
  const usageType = kind === 'Usage' ? line.usageType : `${line.usageType} (${kind})`.trim();
  const key = `${service}\n${usageType}`;
  const before = sums.get(key) ?? { quantity: 0, dollars: 0 };
  sums.set(key, {
    service,
    usageType,
    quantity: before.quantity + quantity,
    dollars: before.dollars + dollars,
  });
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
const [cloudWatch, firewall] = [/cloudwatch/i, /waf/i];

/** What AWS calls the units of requests. */
const requestTypes: Readonly<Record<UsageKind, UsageType>> = {
  gatewayRequests: { usageType: 'ApiGatewayRequest', service: apiGateway, unit: 'requests' },
  readUnits: { usageType: 'ReadRequestUnits', service: dynamoDb, unit: 'units' },
  writeUnits: { usageType: 'WriteRequestUnits', service: dynamoDb, unit: 'units' },
  // Of whichever service the bytes left.
  sentGigabytes: { usageType: 'DataTransfer-Out-Bytes', service: /./, unit: 'GB' },
  loggedGigabytes: {
    usageType: 'DataProcessing-Bytes',
    // Lambda's logs are billed as those that AWS itself writes.
    alsoNamed: /^VendedLog-Bytes$/,
    service: cloudWatch,
    unit: 'GB',
  },
  traces: { usageType: 'XRay-TracesStored', service: /x-?ray/i, unit: 'traces' },
  firewallRequests: { usageType: 'RequestV2-Tier1', service: firewall, unit: 'requests' },
  functionCalls: { usageType: 'Request-ARM', service: lambda, unit: 'requests' },
  gigabyteSeconds: { usageType: 'Lambda-GB-Second-ARM', service: lambda, unit: 'GB-seconds' },
  streamedGigabytes: {
    usageType: 'streamed bytes',
    alsoNamed: /stream/i,
    service: lambda,
    unit: 'GB',
  },
};

/** And what it calls that which is billed by the month. */
const fixedTypes = {
  alarms: { usageType: 'CW:AlarmMonitorUsage', service: cloudWatch, unit: 'alarm metrics' },
  metrics: { usageType: 'CW:MetricMonitorUsage', service: cloudWatch, unit: 'metrics' },
  keys: { usageType: 'KMS-Keys', service: /kms|key management/i, unit: 'keys' },
  stored: { usageType: 'TimedStorage-ByteHrs', service: dynamoDb, unit: 'GB-months' },
  backedUp: { usageType: 'TimedPITRStorage-ByteHrs', service: dynamoDb, unit: 'GB-months' },
  firewalls: { usageType: 'WebACLV2', service: firewall, unit: 'web ACLs' },
  firewallRules: { usageType: 'RuleV2', service: firewall, unit: 'rules' },
} as const satisfies Record<string, UsageType>;

interface ModelInput {
  readonly settings: StageSettings;
  readonly prices: PriceTable;
  readonly traffic: Traffic;
  /** How many months the time is that was billed. */
  readonly months: number;
}

/**
 * A bill by usage types, as the model has it: quantities beside dollars, so that an error of the one is
 * told from an error of the other. Types of which there is nothing are left out.
 * @throws {TrafficError}
 */
export function toModelledUsage({
  settings,
  prices,
  traffic,
  months,
}: ModelInput): ModelledUsage[] {
  const pricing = toStagePricing(settings, prices, sumRequests(traffic));
  const { usage, rates } = toRequestsBill(traffic, pricing);
  const { alarmMetrics, customMetrics, encryptionKeys, firewallRules, ...units } =
    toFixedUnits(settings);
  const checks = units.checks * months;
  const used = {
    ...usage,
    functionCalls: usage.functionCalls + checks,
    gigabyteSeconds: usage.gigabyteSeconds + checks * GIGABYTE_SECONDS_OF_A_CHECK,
  };
  const stored = (traffic.entries * STORED_BYTES_OF_AN_ENTRY) / GIGABYTE;
  const backedUp = units.isBackedUp ? stored : 0;
  const rows: (readonly [type: UsageType, quantity: number, price: number])[] = [
    ...usageKinds.map((kind) => [requestTypes[kind], used[kind], rates[kind]] as const),
    [fixedTypes.alarms, alarmMetrics * months, prices.alarmMetricPerMonth],
    [fixedTypes.metrics, customMetrics * months, prices.customMetricPerMonth],
    [fixedTypes.keys, encryptionKeys * months, prices.encryptionKeyPerMonth],
    [fixedTypes.stored, stored * months, prices.dynamoDbPerStoredGigabyte],
    [fixedTypes.backedUp, backedUp * months, prices.dynamoDbPerBackedUpGigabyte],
    [fixedTypes.firewalls, (firewallRules > 0 ? 1 : 0) * months, prices.firewallPerMonth],
    [fixedTypes.firewallRules, firewallRules * months, prices.firewallRulePerMonth],
  ];
  return rows
    .filter(([, quantity]) => quantity > 0)
    .map(([type, quantity, price]) => ({ ...type, quantity, dollars: quantity * price }));
}

/** Of what is not the service's, more usage types than these are summed up. */
const MAX_OTHERS = 10;

/** For people: what the model explains, what it does not, and what is not the service's. */
function toReconciliationText({ usage, unexplained, others }: Reconciliation): string {
  const head = [
    ...['USAGE TYPE', 'UNIT', 'BILLED', 'MODELLED', 'QUANTITY ERROR', 'PRICE ERROR'],
    ...['BILLED $', 'MODELLED $', 'DOLLARS ERROR'],
  ];
  const rows = usage.map(({ usageType, unit, billed, modelled, ...errors }) => [
    usageType,
    unit,
    toQuantity(billed.quantity),
    toQuantity(modelled.quantity),
    toPercent(errors.quantityError),
    toPercent(errors.priceError),
    billed.dollars.toFixed(2),
    modelled.dollars.toFixed(2),
    toPercent(errors.dollarsError),
  ]);
  const billed = sumBilled(usage.map((row) => row.billed));
  const modelled = sumBilled(usage.map((row) => row.modelled));
  const total = [
    ...['all of these', '', '', '', '', ''],
    ...[billed.toFixed(2), modelled.toFixed(2), toPercent(toError(modelled, billed))],
  ];
  return [
    toColumns([head, ...rows, total]),
    toList('Not explained', unexplained, unexplained.length),
    toList('Not this service', others, MAX_OTHERS),
  ].join('\n\n');
}

/** Without what cost nothing. */
function toList(title: string, all: readonly BilledUsage[], most: number): string {
  const usage = all.filter(({ dollars }) => dollars !== 0);
  const toRow = ({ service, usageType, quantity, dollars }: BilledUsage) => [
    `  ${service}`,
    usageType,
    toQuantity(quantity),
    `$${dollars.toFixed(2)}`,
  ];
  const rest = usage.slice(most);
  const rows = usage.slice(0, most).map(toRow);
  if (rest.length > 0) {
    rows.push([`  ${rest.length} others`, '', '', `$${sumBilled(rest).toFixed(2)}`]);
  }
  const heading = `${title}: $${sumBilled(usage).toFixed(2)}`;
  return rows.length > 0 ? `${heading}\n${toColumns(rows)}` : heading;
}

function sumBilled(amounts: readonly { readonly dollars: number }[]): number {
  return amounts.reduce((sum, { dollars }) => sum + dollars, 0);
}

function toQuantity(quantity: number): string {
  return quantity.toLocaleString('en-US', { maximumSignificantDigits: 6 });
}

function toPercent(error: number | undefined): string {
  if (error === undefined) return '-';
  return `${error < 0 ? '' : '+'}${error.toFixed(1)} %`;
}
