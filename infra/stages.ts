import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { OperationId } from '../shared/contract/operations.ts';

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
   * What the gateway lets through of each operation before it answers 429; it bounds what a runaway
   * client can cost. `other` is all that the gateway answers by itself. The account's own limit, shared
   * by all its APIs, is 10,000 a second with bursts of 5,000.
   */
  readonly throttles: Readonly<Record<OperationId | 'other', Throttle>>;
}

export interface Throttle {
  /** Requests a second, sustained. */
  readonly rate: number;
  /** Requests at once. */
  readonly burst: number;
}

export const stages = {
  staging: {
    allowedOrigins: ['*'],
    logRetentionDays: 14,
    protectsData: false,
    throttles: {
      listInventory: { rate: 5, burst: 10 },
      updateInventory: { rate: 50, burst: 100 },
      getPet: { rate: 50, burst: 100 },
      listOrders: { rate: 5, burst: 10 },
      other: { rate: 20, burst: 40 },
    },
  },
  production: {
    // The storefront's own origin: set it before the first deployment.
    allowedOrigins: ['https://www.petstore.example'],
    logRetentionDays: 90,
    protectsData: true,
    // A list reads a whole table, so it is the dearest request by far.
    throttles: {
      listInventory: { rate: 50, burst: 100 },
      updateInventory: { rate: 500, burst: 1000 },
      getPet: { rate: 500, burst: 1000 },
      listOrders: { rate: 50, burst: 100 },
      other: { rate: 100, burst: 200 },
    },
  },
} as const satisfies Record<string, StageSettings>;

export type StageName = keyof typeof stages;

/** The CloudFormation stack of a deployment. */
export function toStackName(stage: StageName): `petstore-${StageName}` {
  return `petstore-${stage}`;
}
