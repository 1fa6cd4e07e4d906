import { FREE_STREAMED_BYTES } from '../model/components.ts';
import { GIGABYTE_SECONDS_OF_A_CHECK } from '../model/fixedCosts.ts';
import { NoSuchAnswer, toRequestsBill } from '../model/monthlyBill.ts';
import { toStagePricing } from '../model/stagePricing.ts';
import { sumRequests, type Traffic } from '../traffic/traffic.ts';
import { type AnswerUnits, type BilledUnits, sumLogBytes } from '../units/answerUnits.ts';
import { findUnits } from '../units/recordedUnits.ts';
import type { ModelInput, ModelledUsage } from './modelledUsage.ts';

const GIGABYTE = 2 ** 30;

/** What the requests of all services but Lambda's are, by usage types. @throws {NoSuchAnswer} */
export function toRequestsUsage({ stage, prices, traffic, recorded }: ModelInput): ModelledUsage[] {
  const pricing = toStagePricing(stage, prices, sumRequests(traffic));
  const { dollars, keyReads } = toRequestsBill(traffic, recorded, pricing);
  const sum = defineSum(traffic, recorded);
  const [cloudWatch, dynamoDb] = [/cloudwatch/i, /dynamodb/i];
  return [
    {
      usageType: 'ApiGatewayRequest',
      service: /api ?gateway/i,
      unit: 'requests',
      quantity: sum(({ gatewayRequests }) => gatewayRequests),
      dollars: dollars.gateway,
    },
    {
      usageType: 'ReadRequestUnits',
      service: dynamoDb,
      unit: 'units',
      quantity:
        sum(({ readUnits }) => readUnits) + (keyReads / prices.dynamoDbPerMillionReadUnits) * 1e6,
      dollars: dollars.readUnits,
    },
    {
      usageType: 'WriteRequestUnits',
      service: dynamoDb,
      unit: 'units',
      quantity: sum(({ writeUnits }) => writeUnits),
      dollars: dollars.writeUnits,
    },
    {
      usageType: 'DataTransfer-Out-Bytes',
      // Of whichever service the bytes left.
      service: /./,
      unit: 'GB',
      quantity: sum(({ responseBytes }) => responseBytes) / GIGABYTE,
      dollars: dollars.transfer,
    },
    {
      usageType: 'DataProcessing-Bytes',
      // Lambda's logs are billed as those that AWS itself writes.
      alsoNamed: /^VendedLog-Bytes$/,
      service: cloudWatch,
      unit: 'GB',
      quantity: sum(({ logBytes }) => sumLogBytes(logBytes)) / GIGABYTE,
      dollars: dollars.logs,
    },
    {
      usageType: 'XRay-TracesStored',
      service: /x-?ray/i,
      unit: 'traces',
      quantity: (dollars.tracing / prices.tracesPerMillion) * 1e6,
      dollars: dollars.tracing,
    },
    {
      usageType: 'RequestV2-Tier1',
      service: /waf/i,
      unit: 'requests',
      quantity: (dollars.firewall / prices.firewallPerMillionRequests) * 1e6,
      dollars: dollars.firewall,
    },
  ];
}

/** What Lambda's calls are, those of the scheduled check among them. @throws {NoSuchAnswer} */
export function toLambdaUsage({
  prices,
  traffic,
  recorded,
  fixed,
  months,
}: ModelInput): ModelledUsage[] {
  const sum = defineSum(traffic, recorded);
  const checks = fixed.checks * months;
  const calls = sum(({ functionCalls }) => functionCalls) + checks;
  const gigabyteSeconds =
    sum((units) => (units.memoryMegabytes / 1024) * (units.billedMilliseconds / 1000)) +
    checks * GIGABYTE_SECONDS_OF_A_CHECK;
  const streamed =
    sum(({ functionCalls, responseBytes }) =>
      functionCalls > 0 ? Math.max(0, responseBytes - FREE_STREAMED_BYTES) : 0,
    ) / GIGABYTE;
  const service = /lambda/i;
  return [
    {
      usageType: 'Request-ARM',
      service,
      unit: 'requests',
      quantity: calls,
      dollars: (calls / 1e6) * prices.lambdaPerMillionRequests,
    },
    {
      usageType: 'Lambda-GB-Second-ARM',
      service,
      unit: 'GB-seconds',
      quantity: gigabyteSeconds,
      dollars: gigabyteSeconds * prices.lambdaPerGigabyteSecond,
    },
    {
      usageType: 'streamed bytes',
      alsoNamed: /stream/i,
      service,
      unit: 'GB',
      quantity: streamed,
      dollars: streamed * prices.lambdaPerStreamedGigabyte,
    },
  ];
}

function defineSum(traffic: Traffic, recorded: readonly AnswerUnits[]) {
  const metered = traffic.shares.map((share) => {
    const units = findUnits(recorded, share.operationId, share.answer, traffic.entries);
    if (!units) throw new NoSuchAnswer(share, traffic.entries);
    return { units, requests: share.requests };
  });
  return (count: (units: BilledUnits) => number) =>
    metered.reduce((sum, { units, requests }) => sum + requests * count(units), 0);
}
