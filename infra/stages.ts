import type { RetentionDays } from 'aws-cdk-lib/aws-logs';

/** All that may differ between the deployments of the service. */
export interface StageSettings {
  /** Origins whose pages may call the service from a browser: `*`, or each with its scheme and without a slash. */
  readonly allowedOrigins: readonly [string, ...string[]];
  /** Days that function logs and access logs are kept. */
  readonly logRetentionDays: RetentionDays;
  /**
   * Whether the data must outlive a mistake: tables and logs stay when the stack goes, tables refuse
   * deletion and can be restored to any second of the last 35 days (billed by the size of the tables),
   * and the stack itself refuses deletion.
   */
  readonly protectsData: boolean;
  /**
   * What the gateway lets through before it answers 429; it bounds what a runaway client can cost. The
   * account's own limit, shared by all its APIs, is 10,000 a second with bursts of 5,000.
   */
  readonly throttle: {
    /** Requests a second, sustained, on each method. */
    readonly rate: number;
    /** Requests at once, on each method. */
    readonly burst: number;
  };
}

export const stages = {
  staging: {
    allowedOrigins: ['*'],
    logRetentionDays: 14,
    protectsData: false,
    throttle: { rate: 50, burst: 100 },
  },
  production: {
    // The storefront's own origin: set it before the first deployment.
    allowedOrigins: ['https://www.petstore.example'],
    logRetentionDays: 90,
    protectsData: true,
    throttle: { rate: 500, burst: 1000 },
  },
} as const satisfies Record<string, StageSettings>;

export type StageName = keyof typeof stages;

/** The CloudFormation stack of a deployment. */
export function toStackName(stage: StageName): `petstore-${StageName}` {
  return `petstore-${stage}`;
}
