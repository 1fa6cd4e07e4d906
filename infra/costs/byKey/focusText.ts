import { type Component, components } from '../model/components.ts';
import { toCsvLine } from './csv.ts';
import { toMonth } from './dayRange.ts';
import type { KeyCost } from './keyCosts.ts';
import type { CostReport, MonthCosts } from './monthCosts.ts';

/** Of each component: AWS's name of the service, FOCUS's category for it, and by what it is divided. */
const services: Record<Component, readonly [name: string, category: string, method: string]> = {
  gateway: ['Amazon API Gateway', 'Integration', 'requests-of-same-status'],
  lambda: ['AWS Lambda', 'Compute', 'milliseconds-of-requests'],
  readUnits: ['Amazon DynamoDB', 'Databases', 'request-units'],
  writeUnits: ['Amazon DynamoDB', 'Databases', 'request-units'],
  transfer: ['AWS Data Transfer', 'Networking', 'requests-of-same-status'],
  logs: ['Amazon CloudWatch', 'Management and Governance', 'number-of-requests'],
  tracing: ['AWS X-Ray', 'Developer Tools', 'number-of-requests'],
  firewall: ['AWS WAF', 'Security', 'requests-of-same-status'],
};

/**
 * What the costs are in the columns of FOCUS 1.3, a row for each key, operation and component that cost
 * something. All costs of a row are the same, an estimate by list prices.
 * https://focus.finops.org/focus-specification/v1-3/
 */
export function toFocusText(report: CostReport): string {
  const rows = report.months.flatMap((month) =>
    components.flatMap((component) => {
      const charge = month.keys.reduce((sum, { dollars }) => sum + dollars[component], 0);
      return month.keys
        .filter(({ dollars }) => dollars[component] > 0)
        .map((cost) => toRow(report, month, component, cost, charge));
    }),
  );
  const names = Object.keys(rows[0] ?? {});
  return [names, ...rows.map((row) => Object.values(row))].map(toCsvLine).join('');
}

type Row = Readonly<Record<string, string | number>>;

function toRow(
  { tags, region, pricesAsOf }: CostReport,
  { days, account }: MonthCosts,
  component: Component,
  { key, operation, requests, dollars }: KeyCost,
  charge: number,
): Row {
  const [service, category, method] = services[component];
  const cost = dollars[component];
  const billed = toMonth(days.from);
  const details = {
    Elements: [{ AllocatedRatio: cost / charge }],
    x_Component: component,
    x_Requests: requests,
  };
  return {
    AllocatedMethodDetails: JSON.stringify(details),
    AllocatedMethodId: method,
    AllocatedResourceId: `${key}/${operation ?? ''}`,
    AllocatedResourceName: key,
    AllocatedTags: JSON.stringify({ key, ...(operation && { operation }) }),
    BilledCost: cost,
    BillingAccountId: account,
    BillingAccountName: '',
    BillingCurrency: 'USD',
    BillingPeriodEnd: toTime(billed.end),
    BillingPeriodStart: toTime(billed.from),
    ChargeCategory: 'Usage',
    ChargeClass: '',
    ChargeDescription: `Estimate of ${component} by list prices of ${pricesAsOf}`,
    ChargePeriodEnd: toTime(days.end),
    ChargePeriodStart: toTime(days.from),
    ContractedCost: cost,
    EffectiveCost: cost,
    HostProviderName: 'AWS',
    InvoiceIssuerName: 'AWS',
    ListCost: cost,
    PricingQuantity: '',
    PricingUnit: '',
    ProviderName: 'AWS',
    PublisherName: 'AWS',
    RegionId: region,
    ServiceCategory: category,
    ServiceName: service,
    ServiceProviderName: 'AWS',
    SubAccountId: account,
    Tags: JSON.stringify(tags),
  };
}

function toTime(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}
