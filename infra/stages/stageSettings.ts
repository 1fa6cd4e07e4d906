import type { OperationId } from '../../shared/contract/operations.ts';
import type { TableName } from './tables.ts';

/** All that may differ between the deployments of the service; `checkStageSettings.ts` holds the bounds. */
export interface StageSettings extends CostSettings {
  /** What the stage is for, in a few words that clients read in the documentation. */
  readonly purpose: string;
  /**
   * The account and region to deploy to, 12 digits and such as `eu-west-1`; default: those of the AWS
   * credentials in use. Lambda does not stream responses in every region, and lists are streamed: look
   * the region up at https://builder.aws.com/build/capabilities.
   */
  readonly account?: string;
  readonly region?: string;
  /**
   * Where clients are told that the stage is, such as `https://api.shop.example/v1`: that of `customDomain`,
   * or else the gateway's own address, which the first deployment prints.
   */
  readonly baseAddress: string;
  /** Where `dist/docs` is published, without a slash at the end; deprecated operations link to it. */
  readonly documentationAddress: string;
  /** Origins whose pages may call the service from a browser: `*`, or each with its scheme and without a slash. */
  readonly allowedOrigins: readonly [string, ...string[]];
  /**
   * A name of one's own for the service, whose base address is then `https://<name>/v1`, with its
   * certificate from ACM, of the stage's region. The name's DNS record is left to whoever runs the zone.
   */
  readonly customDomain?: { readonly name: string; readonly certificateArn: string };
  /** The least severe line that functions log. The line of each request is of level INFO, so none above that. */
  readonly logLevel: 'TRACE' | 'DEBUG' | 'INFO';
  /** Days that function logs and access logs are kept. */
  readonly logRetentionDays: LogRetentionDays;
  /**
   * Whether the watch stack has alarms: each metric that one looks at costs $0.10 a month, with the key that
   * encrypts them and the scheduled check some $10 in all.
   */
  readonly raisesAlarms: boolean;
  /**
   * Where alarms go, by severity: an e-mail address, whose owner has to confirm the subscription, or the ARN
   * of a topic of one's own, which lets CloudWatch publish to it; default: nowhere.
   */
  readonly alarms?: Readonly<Partial<Record<Severity, string>>>;
  /**
   * Minutes between two calls of the service from outside, 1 to 60, by a function of the watch stack with a
   * read key of its own, which the runbook says how to give it; default: none.
   */
  readonly checkEveryMinutes?: number;
  /**
   * Minutes without a request after which somebody is woken, 1 to 1440: for a stage that always has traffic;
   * default: never.
   */
  readonly quietMinutes?: number;
  /**
   * Whether the data must outlive a mistake: tables and logs stay when the stack goes, tables refuse
   * deletion and can be restored to any second of the last 35 days (billed by the size of the tables),
   * and the stack itself refuses deletion.
   */
  readonly protectsData: boolean;
  /**
   * Another region that a copy of the tables is taken to every night and kept in for a week, should `region`,
   * which must be set then, be lost; about $1.40 a month per GB of tables. Default: no copy.
   */
  readonly backupRegion?: string;
  /** Tables restored from a backup, by name, that the functions use in place of the stack's own. */
  readonly restoredTables?: Readonly<Partial<Record<TableName, string>>>;
  /**
   * What the gateway lets through of each operation before it answers 429; it bounds what a runaway
   * client can cost. `other` is all that the gateway answers by itself. The account's own limit, shared
   * by all its APIs, is `accountThrottle`.
   */
  readonly throttles: Readonly<Record<OperationId | 'other', Throttle>>;
  /** Memory of each function, 128 to 10,240 MB; its share of a CPU grows with it, up to a whole one at 1769 MB. */
  readonly memoryMegabytes: Readonly<Record<OperationId, number>>;
  /**
   * Calls of a function that may run at once, taken out of what the account has for all its functions;
   * 0 turns the operation off. Default: as many as the account has left, but for lists that are streamed,
   * which get a fifth of `accountConcurrency` where that is set and large enough.
   */
  readonly reservedConcurrency?: Readonly<Partial<Record<OperationId, number>>>;
  /**
   * Calls that may run at once in the account: 1,000, or as few as 10 in a new one; AWS Service Quotas tells,
   * as "Concurrent executions". Default: not known, so that nothing is reserved and no alarm compares with it.
   */
  readonly accountConcurrency?: number;
  /** How the requests move to new code. All but `atOnce` go back by themselves when errors or latency rise. */
  readonly rollout: Rollout;
  /** Whether a web application firewall stands before the gateway: $8 a month, and $0.60 per million requests. */
  readonly firewall: boolean;
}

/** `page` wakes somebody for what clients feel now; `ticket` is for the next morning. */
export const severities = ['page', 'ticket'] as const;
export type Severity = (typeof severities)[number];

/** What an operation's function gets on every stage. */
export interface OperationSettings {
  readonly timeoutSeconds: number;
  /** The share of its calls that are to be answered without a 5xx over four weeks, above 0 and below 100. */
  readonly availabilityPercent: number;
  /** What the slowest hundredth of its calls may take, in milliseconds; of a streamed list, until its first byte. */
  readonly latencyMilliseconds: number;
  /** The tables that it uses besides the API keys, with all that it may do there. */
  readonly access: TableAccess;
}

export type TableAccess = Readonly<Partial<Record<TableName, readonly DynamoDbAction[]>>>;
export type DynamoDbAction =
  `dynamodb:${'BatchGetItem' | 'GetItem' | 'PutItem' | 'Query' | 'Scan' | 'UpdateItem'}`;

export interface Throttle {
  /** Requests a second, sustained. */
  readonly rate: number;
  /** Requests at once; not below `rate`, as far as the account's own burst lets it. */
  readonly burst: number;
}

/** What API Gateway lets through of all APIs of an account in a region, unless AWS has set another quota. */
export const accountThrottle: Throttle = { rate: 10_000, burst: 5_000 };

/** How the requests can move to new code. */
export const rollouts = [
  'atOnce',
  /** A tenth of the requests for five minutes, then all. */
  'canary10PercentFor5Minutes',
  /** A tenth more every minute. */
  'linear10PercentEveryMinute',
] as const;
export type Rollout = (typeof rollouts)[number];

/** Days that CloudWatch Logs can keep a log for; 9999 stands for ever. */
export const logRetentionDays = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288,
  3653, 9999,
] as const;
export type LogRetentionDays = (typeof logRetentionDays)[number];

/** What of a stage's settings says who pays for it, and what its bill is bounded and watched by. */
export interface CostSettings {
  /**
   * Who answers for the stage and for its bill, such as `petstore team`: the tag `owner` of all that the
   * stage is made of.
   */
  readonly owner: string;
  /** Which of its requests X-Ray traces, at $5 per million: more than the rest of a small request. */
  readonly tracing: TraceSampling;
  /** What the stage may cost a month, and who is told by e-mail; default: no budget. */
  readonly budget?: Budget;
  /**
   * Request units a second past which DynamoDB refuses calls to a table: what a mistake can cost, where the
   * throttles do not bound it, as with an import. They must leave room for what the throttles let through at
   * once, or clients get 503. DynamoDB takes them for a target, and may let more through for a while.
   */
  readonly maximumUnitsPerSecond: Readonly<Record<TableName, UnitsPerSecond>>;
  /** The length of the inventory that the stage is to bear, and that its worst month is reckoned with. */
  readonly inventoryEntries: number;
  /**
   * What a month of attack may cost, in dollars: around the clock, with a valid key, whole lists and updates
   * at the throttles' rates, and as much again as is refused. Throttles and concurrency that would let it
   * cost more cannot be deployed; `npm run costs -- --worst-case` tells what it is.
   */
  readonly worstMonthDollars: number;
}

export interface UnitsPerSecond {
  readonly read: number;
  readonly write: number;
}

export interface TraceSampling {
  /** The first requests of each second, which are traced in any case. */
  readonly reservedPerSecond: number;
  /** The share of all others. */
  readonly percent: number;
}

/** At most five percentages in all. */
export interface Budget {
  readonly monthlyDollars: number;
  /** E-mail addresses, at most ten. */
  readonly notify: readonly [string, ...string[]];
  /** The shares of the budget, in per cent, that are told of once they are spent. */
  readonly actualPercent: readonly number[];
  /** Those that are told of once AWS expects the month to reach them, for which it needs some weeks of history. */
  readonly forecastPercent: readonly number[];
}
