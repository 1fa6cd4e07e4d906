import {
  GIGABYTE_SECONDS_OF_A_CHECK,
  STORED_BYTES_OF_AN_ENTRY,
  toFixedUnits,
} from '../../costs/bills/fixedCosts.ts';
import { toRequestsBill, toStagePricing } from '../../costs/bills/monthlyBill.ts';
import { sumRequests, type Traffic } from '../../costs/bills/traffic.ts';
import { GIGABYTE, type UsageKind, usageKinds } from '../../costs/bills/usage.ts';
import type { PriceTable } from '../../costs/prices.ts';
import type { StageSettings } from '../../stages/stageSettings.ts';
import type { BilledLine } from './readExport.ts';

export interface Amount {
  readonly quantity: number;
  readonly dollars: number;
}

/** What was billed under one usage type; with what it is, where it is no use, such as `(Credit)`. */
export interface BilledUsage extends Amount {
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
export async function reconcile(
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
export function toError(modelled: number, billed: number): number | undefined {
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
export interface ModelledUsage extends UsageType, Amount {}

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

export interface ModelInput {
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
