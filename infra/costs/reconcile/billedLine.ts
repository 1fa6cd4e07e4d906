/** What is read of a line of an export. */
export interface BilledLine {
  /** Such as `AmazonApiGateway`, or `Amazon API Gateway`. */
  readonly service: string;
  /** Without the region, such as `ApiGatewayRequest`. */
  readonly usageType: string;
  /** `Usage`, or such as `Tax` and `Credit`. */
  readonly kind: string;
  readonly quantity: number;
  /** As billed, in US dollars. */
  readonly dollars: number;
  /** When the use began, in milliseconds since the epoch; only where days were asked for. */
  readonly start?: number | undefined;
  readonly tags: Readonly<Record<string, string>>;
}

/**
 * A usage type without the region that it begins with: `USE1-`, `EU-`, and of some services `us-east-1-`.
 * https://docs.aws.amazon.com/global-infrastructure/latest/regions/aws-region-billing-codes.html
 */
export function withoutRegion(usageType: string): string {
  return usageType.replace(/^(?:[A-Z]{2,4}\d|EU|CPT|Global|[a-z]{2}(?:-[a-z]+)+-\d)-/, '');
}
