import { toStageMonth } from '../../costs/bills/costReport.ts';
import type { Traffic } from '../../costs/bills/traffic.ts';
import type { PricedStage } from '../../costs/figures.ts';
import { usageKinds } from '../../costs/prices.ts';
import { services, usageTypes } from '../../costs/usageTypes.ts';

export type ExpectedUsage = ReturnType<typeof toExpectedUsage>[number];

/** The expected bill of a month by usage type, with quantities and dollars, so that an error in one shows. */
export function toExpectedUsage(stage: PricedStage, traffic: Traffic) {
  const { usage, rates } = toStageMonth(stage, traffic);
  return usageKinds.flatMap((kind) => {
    const [quantity, [service, usageType, unit, alsoNamed]] = [usage[kind], usageTypes[kind]];
    // AWS gives them no tags, so that their lines are of the whole account. Of CloudWatch, alarms alone have some:
    // https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_TagResource.html
    const isTagged = kind !== 'traces' && kind !== 'customMetrics';
    const named = { service: services[service], usageType, unit, alsoNamed, isTagged };
    return quantity > 0 ? [{ ...named, quantity, dollars: quantity * rates[kind] }] : [];
  });
}
