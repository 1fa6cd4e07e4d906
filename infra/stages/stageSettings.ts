import { RegionInfo } from 'aws-cdk-lib/region-info';
import * as z from 'zod';
import { apiVersion } from '../../shared/contract/operation.ts';
import { operationIds } from '../../shared/contract/operations.ts';
import { type TableName, tableNames } from './tables.ts';

/** `page` wakes somebody because clients are affected now; `ticket` can wait for the next morning. */
export const severities = ['page', 'ticket'] as const;
export type Severity = (typeof severities)[number];

/** Whether a target of alarms is a topic that exists already. */
export function isTopic(target: string | undefined): target is string {
  return target?.startsWith('arn:') ?? false;
}

/** API Gateway's default quota for all APIs of an account in a region. */
export const accountThrottle = { rate: 10_000, burst: 5_000 } as const;

/** The regions of the partition `aws`, where the prices, policies and endpoints of this service apply. */
export const regions = RegionInfo.regions
  .filter(({ partition }) => partition === 'aws')
  .map(({ name }) => name);

const whole = (min: number, max: number) => z.int().min(min).max(max);

/** An https address as `URL` writes it, without a slash at the end. It goes into a header's `<…>`. */
const address = z
  .string()
  .refine(
    (text) =>
      /^https:[^?#]*[^/?#]$/.test(text) &&
      URL.canParse(text) &&
      new URL(text).href.replace(/\/$/, '') === text,
    {
      error: 'must be an address such as "https://docs.shop.example" without a slash at the end',
      abort: true,
    },
  );

/**
 * An origin as a browser sends it: no path, no default port, no upper case. It becomes part of the gateway's
 * expressions, where a quote would end the text.
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

const contact = z
  .string()
  .refine(
    (text) => z.email().safeParse(text).success || address.safeParse(text).success,
    'must be an e-mail address such as "api@shop.example", or a web address such as "https://shop.example/help" without a slash at the end',
  );

const domainRule = 'must be a domain name in lower case, such as "api.shop.example"';

const email = z.email('must be an e-mail address such as "ops@shop.example"');

const alarmTarget = z.union(
  [email, z.string().regex(/^arn:aws:sns:[a-z0-9-]+:\d{12}:[\w-]{1,256}$/)],
  'must be an e-mail address such as "ops@shop.example", or the ARN of a topic',
);

const throttle = z
  .strictObject({
    /** Requests per second, sustained. */
    rate: z.number().positive().max(accountThrottle.rate),
    /** Requests at once. At least `rate`, unless that exceeds the account's own burst. */
    burst: z.int().max(accountThrottle.burst),
  })
  .refine(
    ({ rate, burst }) => burst >= Math.min(rate, accountThrottle.burst),
    `must have a burst of at least the rate, or of ${accountThrottle.burst}`,
  );
export type Throttle = Readonly<z.output<typeof throttle>>;

/** A restored table, not one of a stage's own. */
const restoredTable = z
  .string()
  .regex(
    new RegExp(`^(?!petstore-[a-z0-9]+-(${tableNames.join('|')})$)[\\w.-]{3,255}$`),
    "must be the name of a restored table: 3 to 255 letters, digits, dots, dashes or underscores, and not a stage's own table",
  );

const units = z.strictObject({ read: whole(1, 1_000_000), write: whole(1, 1_000_000) });

const isEachOnce = (values: readonly unknown[]) => new Set(values).size === values.length;
const percents = z
  .array(z.number().positive())
  .readonly()
  .refine(isEachOnce, 'must have no duplicates');

const addressees = z
  .array(email)
  .min(1)
  .max(10)
  .readonly()
  .refine(isEachOnce, 'must have no duplicates');

const budget = z
  .strictObject({
    monthlyDollars: z.number().positive(),
    notify: addressees,
    /** Percentages of the budget. An e-mail is sent when one has been spent. */
    actualPercent: percents,
    /** The same for the forecast of the month, for which AWS needs some weeks of history. */
    forecastPercent: percents,
  })
  // https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_budgets_CreateBudget.html
  .refine(
    ({ actualPercent: { length: actual }, forecastPercent: { length: forecast } }) =>
      actual + forecast >= 1 && actual + forecast <= 5,
    'must have 1 to 5 percentages in all',
  );
export type Budget = z.output<typeof budget>;

const budgetOrNone = z.union(
  [budget, z.literal('none')],
  'must be "none", or have monthlyDollars, notify, actualPercent and forecastPercent',
);

/** A stage's budget, if it has one. */
export function findBudget({ budget: own }: Pick<StageSettings, 'budget'>): Budget | undefined {
  return own === 'none' ? undefined : own;
}

const anomalies = z.strictObject({
  /** The least an anomaly must cost beyond what AWS expected. */
  minDollars: z.number().positive(),
  notify: addressees,
});
export type Anomalies = z.output<typeof anomalies>;

/** All settings that may differ between deployments. `checkStageSettings.ts` checks how they fit together. */
export const stageSettings = z.strictObject({
  /** What the stage is for, in a few words. Clients read them in the documentation. */
  purpose: z.string().regex(/^\S.{0,98}\S$/, 'must be a few words, at most 100 letters'),
  /**
   * The account (12 digits) and the region (such as `eu-west-1`) to deploy to. Default: those of the AWS credentials in
   * use. Lists are streamed, and Lambda does not stream responses in every region. Look the region up at
   * https://builder.aws.com/build/capabilities.
   */
  account: z
    .string('must be 12 digits in quotes')
    .regex(/^\d{12}$/, 'must be 12 digits in quotes')
    .exactOptional(),
  region: z
    .string()
    .refine(
      (region) => regions.includes(region),
      'must be an AWS region such as "eu-west-1", outside China and GovCloud',
    )
    .exactOptional(),
  /**
   * Where clients call the stage, if something is in front of it, such as `https://api.shop.example/v1`. Default:
   * the address of `customDomain`, or else the gateway's own, which the deployment prints.
   */
  baseAddress: address
    .refine((text) => new URL(text).pathname === `/${apiVersion}`, `must end in /${apiVersion}`)
    .exactOptional(),
  /** Where `dist/docs` is published, without a slash at the end. Deprecated operations link to it. */
  documentationAddress: address,
  /** Whom developers of clients ask for keys and help: an e-mail address, or the address of a web page. */
  contact,
  /** Where outages are announced, such as `https://status.shop.example`. Default: nowhere. */
  statusPage: address.exactOptional(),
  /** The origins that may call the service from a browser: `*`, or a list, each with its scheme and without a slash. */
  allowedOrigins: z
    .tuple([origin], origin)
    .readonly()
    .refine(
      (origins) => isEachOnce(origins) && (origins.length === 1 || !origins.includes('*')),
      'must be ["*"], or a list of origins without duplicates',
    ),
  /**
   * A domain name of your own, with its certificate from ACM in the stage's `region`, which must then be set. The base
   * address is then `https://<name>/v1`. You add the DNS record yourself.
   */
  customDomain: z
    .strictObject({
      name: z.hostname(domainRule).regex(/^[^A-Z]+\.[a-z][a-z0-9-]*$/, domainRule),
      certificateArn: z
        .string()
        .regex(
          /^arn:aws:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]+$/,
          'must be the ARN of a certificate from ACM',
        ),
    })
    .exactOptional(),
  /** The lowest level that functions log. Each request's line has the level INFO, so this cannot be higher. */
  logLevel: z.literal(['TRACE', 'DEBUG', 'INFO']),
  /** How many days function logs and access logs are kept: a period that CloudWatch Logs has; 9999 means forever. */
  logRetentionDays: z.literal([
    1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922,
    3288, 3653, 9999,
  ]),
  /**
   * Whether the watch stack has alarms. Each metric of an alarm costs $0.10 a month; with the encryption key and the
   * scheduled check it is at most $16 in all for six operations, besides the metrics of errors. Without alarms,
   * `alarms`, `checkEveryMinutes` and `quietMinutes` cannot be set, since nobody would be notified.
   */
  raisesAlarms: z.boolean(),
  /**
   * Where alarms go, by severity. Use an e-mail address and confirm the subscription, or the ARN of your own topic,
   * which must let CloudWatch publish to it. Default: a topic without a subscriber, whose ARN the deployment prints.
   */
  alarms: z.partialRecord(z.literal(severities), alarmTarget).exactOptional(),
  /**
   * Minutes between two calls of the service from outside, 1 to 60; default: never. A function of the watch stack makes
   * them, with its own read key from `npx petstore keys check`.
   */
  checkEveryMinutes: whole(1, 60).exactOptional(),
  /**
   * Minutes without a request after which a page is sent, 1 to 1440; default: never. Only for a stage that always has
   * traffic.
   */
  quietMinutes: whole(1, 1_440).exactOptional(),
  /**
   * Whether the data must outlive a mistake. Tables and logs stay when the stack is deleted. Tables refuse deletion,
   * and can be restored to any second of the last 35 days, which is billed by their size. The stack itself refuses
   * deletion too. With `raisesAlarms` it must be true.
   */
  protectsData: z.boolean(),
  /**
   * Another region that keeps nightly copies of the tables for a week, in case `region` is lost. `region` must then be
   * set. It costs about $1.40 a month per GB of tables. Default: no copy.
   */
  backupRegion: z.string().exactOptional(),
  /** Restored tables, by name, that the functions use instead of the stack's own. */
  restoredTables: z
    .partialRecord(z.literal(tableNames), restoredTable)
    .refine((names) => isEachOnce(Object.values(names)), 'must name another table for each')
    .exactOptional(),
  /**
   * How many requests the gateway lets through for each operation before it responds with 429. This bounds the cost of
   * a runaway client. `other` is for all requests with a response of the gateway itself. `accountThrottle` is the account's
   * own limit, shared by all its APIs.
   */
  throttles: z.record(z.literal([...operationIds, 'other']), throttle),
  /** Memory of each function, 128 to 10,240 MB. Its share of a CPU grows with the memory, to a whole one at 1769 MB. */
  memoryMegabytes: z.record(z.literal(operationIds), whole(128, 10_240)),
  /**
   * How many calls of a function may run at once, reserved from the account's concurrency; 0 turns the operation off.
   * Default: as many as the account has left. Streamed lists get a fifth of `accountConcurrency` if that is set and
   * large enough.
   */
  reservedConcurrency: z
    .partialRecord(z.literal(operationIds), whole(0, 1_000_000))
    .exactOptional(),
  /**
   * Calls that may run at once in the account: 1,000, or as few as 10 in a new one. See "Concurrent executions" in AWS
   * Service Quotas. Default: unknown, so nothing is reserved and no alarm compares with it.
   */
  accountConcurrency: whole(1, 1_000_000).exactOptional(),
  /**
   * How requests move to new code. With all but `atOnce`, a new version is checked first, and rolled back by
   * itself when errors or latency rise.
   */
  rollout: z.literal(['atOnce', 'canary10PercentFor5Minutes', 'linear10PercentEveryMinute']),
  /**
   * Whether a web application firewall bounds what one client takes from all others, for $12 a month and $0.60 per
   * million requests. It also blocks the addresses that people add: "Stop a client" in infra/RUNBOOK.md. It counts late,
   * and each address of IPv6 by itself. If your own proxy is in front (`baseAddress`), all clients have its address:
   * raise both limits, or have the proxy limit them. Without `baseAddress`, an operation that
   * `firewallRequestsPerAddress` would let one address use up has a rule of its own, for $1 a month: one address gets two
   * thirds of its throttle.
   */
  firewall: z.boolean(),
  /** The requests of one address in a minute above which the firewall responds with 429. Default: 3,000. */
  firewallRequestsPerAddress: whole(10, 2_000_000_000).exactOptional(),
  /**
   * The same for lists of the inventory, by one API key and by one address. Default: two thirds of what the throttle of
   * listInventory lets through.
   */
  firewallListsPerClient: whole(10, 2_000_000_000).exactOptional(),
  /**
   * Who is responsible for the stage and its bill, such as `petstore team`. It is the tag `owner` of every resource. A
   * change may empty the sets of blocked addresses, which have the tag too: add them again, as infra/RUNBOOK.md says.
   */
  owner: z
    .string()
    .regex(
      /^(?! )[\p{L}\p{N} _.:/=+-]{1,256}(?<! )$/u,
      'must be a name such as "petstore team", at most 256 letters, digits, spaces and any of _.:/=+-',
    ),
  /** Which requests X-Ray traces, at $5 per million traces: more than the rest of a small request costs. */
  tracing: z.strictObject({
    /** The first requests of each second, always traced. */
    reservedPerSecond: whole(0, 1_000),
    /** The percentage of all others. */
    percent: z.number().min(0).max(100),
  }),
  /**
   * What the stage may cost a month, and who gets an e-mail. With `raisesAlarms` it must be set. `'none'` means that
   * nobody is warned of costs, on purpose.
   */
  budget: budgetOrNone.exactOptional(),
  /**
   * Who gets an e-mail when spending is unusual compared with the weeks before; default: nobody. In an organization,
   * only the management account can have it:
   * https://docs.aws.amazon.com/cost-management/latest/userguide/getting-started-ad.html
   */
  anomalies: anomalies.exactOptional(),
  /**
   * Request units per second after which DynamoDB refuses calls to a table. They bound the cost of a mistake where
   * throttles do not, as in an import. They must leave room for every burst that the throttles allow, or clients get
   * 503. DynamoDB treats them as a target and may exceed them for a while.
   */
  maximumUnitsPerSecond: z.record(z.literal(tableNames), units),
  /** How many entries the inventory may have. `npx petstore costs` prices the most expensive list with this number. */
  inventoryEntries: whole(0, 1_000_000_000),
});
export type StageSettings = Readonly<z.output<typeof stageSettings>>;
export type TraceSampling = StageSettings['tracing'];

/** The settings of an operation's function, the same on every stage. */
export interface OperationSettings {
  readonly timeoutSeconds: number;
  /** The percentage of its calls that should succeed without a 5xx over four weeks, above 0 and below 100. */
  readonly availabilityPercent: number;
  /** The objective for the 99th percentile, below the timeout; for a streamed list, until its first byte. */
  readonly latencyMilliseconds: number;
  /** The tables that it uses besides the API keys, with its actions there. */
  readonly access: TableAccess;
}

export type TableAccess = Readonly<Partial<Record<TableName, readonly DynamoDbAction[]>>>;
export type DynamoDbAction =
  `dynamodb:${'BatchGetItem' | 'DeleteItem' | 'GetItem' | 'PutItem' | 'Query' | 'Scan' | 'UpdateItem'}`;
