import * as z from 'zod';
import { apiVersion } from '../../shared/contract/operation.ts';
import { operationIds } from '../../shared/contract/operations.ts';
import { type TableName, tableNames } from './tables.ts';

/** `page` wakes somebody for what clients feel now; `ticket` is for the next morning. */
export const severities = ['page', 'ticket'] as const;
export type Severity = (typeof severities)[number];

/** What API Gateway lets through of all APIs of an account in a region, unless AWS has set another quota. */
export const accountThrottle = { rate: 10_000, burst: 5_000 } as const;

const whole = (min: number, max: number) => z.int().min(min).max(max);

/** An https address as `URL` writes it, but for a slash at the end; it goes into a header's `<…>`. */
const address = z
  .string()
  .refine(
    (text) =>
      /^https:[^?#]*[^/?#]$/.test(text) &&
      URL.canParse(text) &&
      new URL(text).href.replace(/\/$/, '') === text,
    'must be an address such as "https://docs.shop.example" without a slash at the end',
  );

/**
 * As a browser sends it: without a path, a port that goes without saying, or upper case. It becomes part
 * of the gateway's expressions, where a quote would end the text.
 */
const origin = z
  .string()
  .refine(
    (text) =>
      text === '*' ||
      (/^https?:\/\/[\w.:[\]-]+$/.test(text) &&
        URL.canParse(text) &&
        new URL(text).origin === text),
    'must be "*", or an origin such as "https://shop.example" without a path or a slash at the end',
  );

const alarmTarget = z.union(
  [z.email(), z.string().regex(/^arn:aws:sns:[a-z0-9-]+:\d{12}:[\w-]{1,256}$/)],
  'must be an e-mail address such as "ops@shop.example", or the ARN of a topic',
);

const throttle = z
  .strictObject({
    /** Requests a second, sustained. */
    rate: z.number().positive().max(accountThrottle.rate),
    /** Requests at once; not below `rate`, as far as the account's own burst lets it. */
    burst: z.int().max(accountThrottle.burst),
  })
  .refine(
    ({ rate, burst }) => burst >= Math.min(rate, accountThrottle.burst),
    `must have a burst that is not below the rate, or is ${accountThrottle.burst}`,
  );
export type Throttle = Readonly<z.output<typeof throttle>>;

/** One that was restored: not a stage's own. */
const restoredTable = z
  .string()
  .regex(
    new RegExp(`^(?!petstore-[a-z0-9]+-(${tableNames.join('|')})$)[\\w.-]{3,255}$`),
    "must be a restored table's name, 3 to 255 letters, digits, dots, dashes or underscores, and none of a stage's own",
  );

const units = z.strictObject({ read: whole(1, 1_000_000), write: whole(1, 1_000_000) });

/** Days that CloudWatch Logs can keep a log for; 9999 stands for ever. */
const logRetentionDays = z.literal([
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288,
  3653, 9999,
]);

const isEachOnce = (values: readonly unknown[]) => new Set(values).size === values.length;
const percents = z
  .array(z.number().positive())
  .readonly()
  .refine(isEachOnce, 'must have each once');

/** E-mail addresses. */
const addressees = z
  .array(z.email())
  .min(1)
  .max(10)
  .readonly()
  .refine(isEachOnce, 'must have each once');

const budget = z
  .strictObject({
    monthlyDollars: z.number().positive(),
    notify: addressees,
    /** The shares of the budget, in per cent, that are told of once they are spent. */
    actualPercent: percents,
    /** Those that are told of once AWS expects the month to reach them, for which it needs some weeks of history. */
    forecastPercent: percents,
  })
  // https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_budgets_CreateBudget.html
  .refine(
    ({ actualPercent: { length: actual }, forecastPercent: { length: forecast } }) =>
      actual + forecast >= 1 && actual + forecast <= 5,
    'must have 1 to 5 percentages in all',
  );
export type Budget = z.output<typeof budget>;

const anomalies = z.strictObject({
  /** What an anomaly must have cost beyond what was expected. */
  minDollars: z.number().positive(),
  notify: addressees,
});
export type Anomalies = z.output<typeof anomalies>;

/** All that may differ between the deployments of the service; `checkStageSettings.ts` holds what settings have to do with each other. */
export const stageSettings = z.strictObject({
  /** What the stage is for, in a few words that clients read in the documentation. */
  purpose: z.string().regex(/^\S.{0,98}\S$/, 'must be a few words, at most 100 letters'),
  /**
   * The account and region to deploy to, 12 digits and such as `eu-west-1`; default: those of the AWS
   * credentials in use. Lambda does not stream responses in every region, and lists are streamed: look
   * the region up at https://builder.aws.com/build/capabilities.
   */
  account: z
    .string()
    .regex(/^\d{12}$/, 'must be 12 digits in quotes')
    .exactOptional(),
  region: z.string().exactOptional(),
  /**
   * Where clients call the stage, such as `https://api.shop.example/v1`, if something stands in front of it.
   * Default: that of `customDomain`, or else the gateway's own, which the deployment prints.
   */
  baseAddress: address
    .refine((text) => new URL(text).pathname === `/${apiVersion}`, `must end in /${apiVersion}`)
    .exactOptional(),
  /** Where `dist/docs` is published, without a slash at the end; deprecated operations link to it. */
  documentationAddress: address,
  /** Origins whose pages may call the service from a browser: `*`, or each with its scheme and without a slash. */
  allowedOrigins: z
    .tuple([origin], origin)
    .readonly()
    .refine(
      (origins) => isEachOnce(origins) && (origins.length === 1 || !origins.includes('*')),
      'must be ["*"], or origins, each once',
    ),
  /**
   * A name of one's own for the service, whose base address is then `https://<name>/v1`, with its
   * certificate from ACM, of the stage's region. The name's DNS record is left to whoever runs the zone.
   */
  customDomain: z
    .strictObject({
      name: z.hostname(),
      certificateArn: z
        .string()
        .regex(
          /^arn:aws:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]+$/,
          'must be the ARN of a certificate from ACM',
        ),
    })
    .exactOptional(),
  /** The least severe line that functions log. The line of each request is of level INFO, so none above that. */
  logLevel: z.literal(['TRACE', 'DEBUG', 'INFO']),
  /** Days that function logs and access logs are kept. */
  logRetentionDays: logRetentionDays,
  /**
   * Whether the watch stack has alarms: each metric that one looks at costs $0.10 a month, with the key that
   * encrypts them and the scheduled check some $10 in all. Without them, `alarms`, `checkEveryMinutes` and
   * `quietMinutes` cannot be set, since nobody would be told.
   */
  raisesAlarms: z.boolean(),
  /**
   * Where alarms go, by severity: an e-mail address, whose owner has to confirm the subscription, or the ARN
   * of a topic of one's own, which lets CloudWatch publish to it; default: nowhere.
   */
  alarms: z.partialRecord(z.literal(severities), alarmTarget).exactOptional(),
  /**
   * Minutes between two calls of the service from outside, 1 to 60, by a function of the watch stack with a
   * read key of its own, which `npm run keys -- check` makes; default: none.
   */
  checkEveryMinutes: whole(1, 60).exactOptional(),
  /**
   * Minutes without a request after which somebody is woken, 1 to 1440: for a stage that always has traffic;
   * default: never.
   */
  quietMinutes: whole(1, 1_440).exactOptional(),
  /**
   * Whether the data must outlive a mistake: tables and logs stay when the stack goes, tables refuse
   * deletion and can be restored to any second of the last 35 days (billed by the size of the tables),
   * and the stack itself refuses deletion.
   */
  protectsData: z.boolean(),
  /**
   * Another region that a copy of the tables is taken to every night and kept in for a week, should `region`,
   * which must be set then, be lost; about $1.40 a month per GB of tables. Default: no copy.
   */
  backupRegion: z.string().exactOptional(),
  /** Tables restored from a backup, by name, that the functions use in place of the stack's own. */
  restoredTables: z.partialRecord(z.literal(tableNames), restoredTable).exactOptional(),
  /**
   * What the gateway lets through of each operation before it answers 429; it bounds what a runaway
   * client can cost. `other` is all that the gateway answers by itself. The account's own limit, shared
   * by all its APIs, is `accountThrottle`.
   */
  throttles: z.record(z.literal([...operationIds, 'other']), throttle),
  /** Memory of each function, 128 to 10,240 MB; its share of a CPU grows with it, up to a whole one at 1769 MB. */
  memoryMegabytes: z.record(z.literal(operationIds), whole(128, 10_240)),
  /**
   * Calls of a function that may run at once, taken out of what the account has for all its functions;
   * 0 turns the operation off. Default: as many as the account has left, but for lists that are streamed,
   * which get a fifth of `accountConcurrency` where that is set and large enough.
   */
  reservedConcurrency: z
    .partialRecord(z.literal(operationIds), whole(0, 1_000_000))
    .exactOptional(),
  /**
   * Calls that may run at once in the account: 1,000, or as few as 10 in a new one; AWS Service Quotas tells,
   * as "Concurrent executions". Default: not known, so that nothing is reserved and no alarm compares with it.
   */
  accountConcurrency: whole(1, 1_000_000).exactOptional(),
  /** How the requests move to new code. All but `atOnce` go back by themselves when errors or latency rise. */
  rollout: z.literal(['atOnce', 'canary10PercentFor5Minutes', 'linear10PercentEveryMinute']),
  /** Whether a web application firewall stands before the gateway: $8 a month, and $0.60 per million requests. */
  firewall: z.boolean(),
  /**
   * Who answers for the stage and for its bill, such as `petstore team`: the tag `owner` of all that the
   * stage is made of.
   */
  owner: z
    .string()
    .regex(
      /^(?! )[\p{L}\p{N} _.:/=+-]{1,256}(?<! )$/u,
      'must be a name such as "petstore team", at most 256 letters, digits, spaces and any of _.:/=+-',
    ),
  /** Which of its requests X-Ray traces, at $5 per million: more than the rest of a small request. */
  tracing: z.strictObject({
    /** The first requests of each second, which are traced in any case. */
    reservedPerSecond: whole(0, 1_000) /** The share of all others. */,
    percent: z.number().min(0).max(100),
  }),
  /** What the stage may cost a month, and who is told by e-mail; default: no budget. */
  budget: budget.exactOptional(),
  /** Who is told by e-mail of spending that AWS finds unlike that of the weeks before; default: nobody. */
  anomalies: anomalies.exactOptional(),
  /**
   * Request units a second past which DynamoDB refuses calls to a table: what a mistake can cost, where the
   * throttles do not bound it, as with an import. They must leave room for what the throttles let through at
   * once, or clients get 503. DynamoDB takes them for a target, and may let more through for a while.
   */
  maximumUnitsPerSecond: z.record(z.literal(tableNames), units),
  /** The length of the inventory that the stage is to bear, and that its worst month is reckoned with. */
  inventoryEntries: whole(0, 1_000_000_000),
  /**
   * What a month of attack may cost, in dollars: around the clock, with a valid key, whole lists and updates
   * at the throttles' rates, and as much again as is refused. Throttles and concurrency that would let it
   * cost more cannot be deployed; `npm run costs -- --worst-case` tells what it is.
   */
  worstMonthDollars: z.number().positive(),
  /**
   * What a month of the traffic in `infra/costs/traffic.json` may come to cost more than was last accepted, in
   * dollars and in per cent: a change past either fails `npm run costs -- --check` until `infra/costs/accepted.json`
   * has the new figure.
   */
  maxIncreaseDollars: z.number().nonnegative(),
  maxIncreasePercent: z.number().nonnegative(),
});
export type StageSettings = Readonly<z.output<typeof stageSettings>>;
export type TraceSampling = StageSettings['tracing'];

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
