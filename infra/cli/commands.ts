import type { Permission } from '../../shared/contract/operation.ts';
import { type StageName, stageNames, stagesForClients } from '../stages/stages.ts';
import * as kinds from './values.ts';

/** An option of a command. Its kind says how its text is read. */
export interface Option extends Partial<kinds.Kind<unknown>> {
  /** What follows its name, such as `FILE`; nothing without it. */
  readonly value?: string;
  /** All values that it can have, where there are few. */
  readonly choices?: readonly string[];
  readonly about: string;
  readonly default?: string;
  readonly required?: true;
  readonly multiple?: true;
}

export interface CommandText {
  readonly summary: string;
  /** Such as `<KEY_ID>` or `<FILE...>`. */
  readonly argument?: string;
  /** One paragraph or several; the summary by default. */
  readonly about?: string | readonly string[];
  readonly subcommands?: Readonly<Record<string, CommandText>>;
  /** The subcommand without one. */
  readonly default?: string;
  readonly options?: Readonly<Record<string, Option>>;
}

const text = <const More = object>(value: string, about: string, more?: More) =>
  ({ value, about, ...more }) as { readonly value: string; readonly about: string } & More;
const flag = (about: string) => ({ about }) as const;
const choice = <Name extends string>(value: string, choices: readonly Name[], about: string) =>
  ({ value, choices, about }) as const;

/** A stage, once its settings are checked. Only commands that take one load the check. */
const stage = {
  ...choice('STAGE', stageNames, 'the stage, found through its stack with your AWS credentials'),
  parse: async (name: string) => (await import('./stageOption.ts')).parseStage(name as StageName),
} as const;
const urgentStage = {
  ...stage,
  parse: async (name: string) =>
    (await import('./stageOption.ts')).parseUrgentStage(name as StageName),
} as const;
const oneUrgentStage = { ...urgentStage, required: true } as const;
const json = flag('print machine-readable JSON instead of text');
const jsonBeside = flag('print machine-readable JSON; the text is on standard error');
const yes = flag('go ahead without asking');
/** Where the tables are. */
const place = {
  stage,
  endpoint: text('URL', 'a DynamoDB emulator, in place of a stage', kinds.httpUrl),
} as const;
const keyPlace = { ...place, stage: urgentStage } as const;

const pricedStage = {
  stage: { ...stage, about: 'the stage', default: stagesForClients[0].name },
} as const;
const port = kinds.whole(0, 65_535);
const aboutKey =
  'KEY is one of three: the key itself; its key id, which is the ten characters after psk_; or its name. If several working keys have this name, asks which to use. Any argument is visible in ps and in the shell history. To avoid this, give - as the argument: then the command reads KEY from standard input, or asks for KEY on the terminal without showing what you type.';
/** The requests of a month. */
const traffic = {
  requests: text(
    'LIST',
    'a list such as listOrders=2M,updateInventory:412=1k or listInventory:gzip=500k, with the names in infra/costs/units.json; or a number such as 10M, for that many requests in the mix of infra/costs/traffic.json',
  ),
  traffic: text(
    'FILE',
    'a file such as {"entries": 1000, "requests": {"listOrders": 2000000}}; - for standard input',
  ),
  entries: text(
    'N',
    'the number of entries in the inventory. The default is the value of entries in FILE or infra/costs/traffic.json, or 1,000 if --requests is a list. For the most expensive requests, the default is the setting inventoryEntries',
    kinds.whole(),
  ),
} as const;

export const commands = {
  start: {
    summary: 'Run the service on this machine',
    about: [
      'Runs the functions behind a gateway on the loopback address. The data is in an embedded DynamoDB emulator. The gateway also serves the documentation, where you can try requests. Logs go to standard error.',
      'Ctrl-C stops the service after in-flight requests have completed. A second Ctrl-C stops it immediately.',
    ],
    options: {
      port: text('N', 'the port; 0 picks a free one', { ...port, default: '3000' }),
      data: text(
        'FILE.json',
        'the data to load, {"inventory": [...], "pets": [...], "orders": [...]}; without this option, a sample of fifty pets and twenty orders',
      ),
      dir: text(
        'FOLDER',
        'keep the data in this folder between runs; without this option, the data is in memory. The folder must be new, empty, or from an earlier run. Data in the folder is used as it is; with --data, the entries of the file replace stored entries that have the same id. Each start creates new API keys',
      ),
      fail: text(
        'STATUS:SHARE',
        "to test clients, fail this share of the requests with this error status, such as 503:0.1. The error responses have the contract's headers and body. May be repeated",
        { multiple: true },
      ),
      delay: text('200ms', 'send the responses of operations this much later, at most 29s', {
        ...kinds.delay,
        default: '0ms',
      }),
      lose: text(
        '0.1',
        'let this share of the requests take effect, and then close the connection instead of responding',
        { ...kinds.share, default: '0' },
      ),
      throttle: {
        ...stage,
        about: 'respond with 429 to requests that exceed the throttles of this stage',
      },
      'expose-dynamodb': text(
        'PORT',
        "let the commands keys, import and export use the service's tables, with --endpoint http://127.0.0.1:PORT; 0 picks a free port",
        port,
      ),
    },
  },
  keys: {
    summary: 'Create, list, rotate and revoke API keys',
    about:
      'The commands "create" and "rotate" print the new key once, and print nothing else on standard output. So you can store the key in a variable: KEY=$(npx petstore keys create …). The table stores no secret.',
    subcommands: {
      create: {
        summary: 'Create a key and print it',
        options: {
          ...keyPlace,
          name: text('NAME', 'who the key is for, such as storefront-web', {
            ...kinds.pattern(
              /^[\w.@-]{1,64}$/,
              '1 to 64 letters, digits, dots, dashes, underscores or @, such as storefront-web',
            ),
            required: true,
          }),
          permission: {
            ...choice<Permission>('PERMISSION', ['read', 'write'], 'write includes read'),
            required: true,
          },
          expires: text(
            'WHEN',
            'when the key expires: after a time such as 90d, at 0:00 UTC of a day such as 2027-01-31, or at a time such as 2027-01-31T18:00:00Z; without this option, the key never expires',
            kinds.end,
          ),
        },
      },
      list: {
        summary: 'List every key with its successor, oldest first',
        options: {
          ...keyPlace,
          expiring: text('14d', 'keys that expire within this time, soonest first', kinds.duration),
          json,
        },
      },
      rotate: {
        summary: 'Create and print the successor of a key',
        argument: '<KEY>',
        about: [
          'Creates a successor and prints it. The old key keeps working for the grace period. If this period is 0s, or if the old key already has a successor, asks before doing anything.',
          aboutKey,
        ],
        options: {
          ...keyPlace,
          grace: text(
            'TIME',
            'how long the old key keeps working; with 0s, it is revoked within 60 seconds',
            {
              ...kinds.duration,
              default: '24h',
            },
          ),
          yes,
        },
      },
      revoke: {
        summary: 'Revoke a key permanently, within a minute; asks first',
        argument: '<KEY>',
        about: ['Revokes a key permanently, within a minute. Asks first.', aboutKey],
        options: { ...keyPlace, yes },
      },
      check: {
        summary: 'Store a key for the scheduled check and the smoke test',
        about:
          'Makes sure that the stage\'s scheduled check and smoke test have a read key. If the key in Parameter Store does not work, was rotated, or has write permission, creates a key named "check" and stores it there. Prints the key id, never the key.',
        options: { stage: oneUrgentStage },
      },
    },
  },
  import: {
    summary: 'Load data files into the tables of a stage',
    about: [
      'Checks every row before writing any. Entries that a table already has are kept, so the same command can be run again after an interruption. The summary counts what is new, replaced, kept and unchanged.',
      'If a spreadsheet seems to have rounded ids, such as 9223372036854770000, reports the first 20 of them and asks before writing anything.',
      'Exits with 0 if all is done or you answered no; 1 if the import failed; 2 if the command line or the format of a file is wrong, or if --yes is needed; 130 or 143 if the import was interrupted. After an interruption, run the same command again.',
    ],
    options: {
      ...place,
      inventory: text('FILE.csv', 'CSV; the first line is petId,quantity,status'),
      pets: text('FILE.jsonl', 'JSON Lines: one object a line, as in responses'),
      orders: text('FILE.jsonl', 'JSON Lines, as for pets'),
      'dry-run': flag('check everything, count what would be new or replaced, and write nothing'),
      overwrite: flag(
        'replace existing entries; sales since the file was made are lost. With --stage, asks first',
      ),
      'overwrite-if-unchanged': text(
        'FILE',
        'replace entries of the inventory that have not changed since this earlier export, and name the first 20 that have changed; works only with --inventory, not with --pets or --orders',
      ),
      'max-wcu': text('N', 'use at most N write request units a second', kinds.whole(1, 9_999_999)),
      yes,
    },
  },
  export: {
    summary: 'Write the tables of a stage to data files',
    about: [
      'Writes files that npx petstore import can load. Rows are sorted by id, so the same data gives the same file. An existing file is replaced only when the new one is complete. For standard output, give - as the file.',
      'Skips invalid records, reports the first 20 of them, and exits with status 1 after writing the rest.',
    ],
    options: {
      ...place,
      inventory: text('FILE.csv', 'the stock'),
      pets: text('FILE.jsonl', 'the pets'),
      orders: text('FILE.jsonl', 'the orders'),
    },
  },
  smoke: {
    summary: 'Test a deployed stage from outside',
    about: [
      'Sends at most 100 requests, one of which lists the whole inventory, and prints a row for each check. Writes to no entry unless you give --entry. Skips the checks that need an existing entry or pet if it finds none.',
      'Uses the key in PETSTORE_API_KEY. If this variable is not set, uses the key that was stored for the stage by npx petstore keys check.',
      'Exits with 0 if no row failed and the commit is the expected one, 1 otherwise, 2 if the command line is invalid or the key is missing or malformed.',
    ],
    options: {
      stage: { ...urgentStage, about: `${stage.about}; smoke also says which commit is live` },
      'base-url': text(
        'URL',
        'the base URL, which ends in /v1, in place of a stage',
        kinds.baseUrl,
      ),
      light: flag('do not list the whole inventory'),
      entry: text('PETID', 'also write the stock of this entry back unchanged; needs a write key'),
      'expect-commit': flag(
        'fail unless exactly one commit is live: the one in PETSTORE_COMMIT or, if that is not set, the commit of this checkout',
      ),
    },
  },
  status: {
    summary: 'Show what is firing, what is live, what fails and who calls',
    about: [
      'Prints one screen for an engineer who was paged: the alarms that are firing and since when, what is live, the requests that failed in the last hour, their errors with a request id each, the top callers by key and by address, the tables that DynamoDB throttles, and links to the saved queries. The screen ends with the rows of infra/RUNBOOK.md that apply, and their commands to paste. The command itself changes nothing.',
      'If a part cannot be read, one line says why, and the rest is shown. The queries of Logs Insights cost $0.005 per GB read: the last hour of each log is read twice. If CloudFormation rolled back the last deployment, the log of the check of new versions is read, too.',
      'Exits with 0 when nothing fires, 1 when an alarm fires or something could not be read, 2 when the command line is invalid.',
    ],
    options: { stage: oneUrgentStage, json },
  },
  rollback: {
    summary: 'Shift traffic back to earlier code',
    about: [
      'Shifts all traffic back to earlier versions immediately, without a deployment. Shows the version that the alias "live" of each function points to, asks for confirmation, and moves the aliases. Then updates the stack to the live versions, so that the next deployment starts from them. If this update fails, run rollback again.',
      'If a deployment is still shifting traffic, offers to stop the deployment. Stopping it shifts the traffic back.',
    ],
    options: {
      stage: oneUrgentStage,
      to: text(
        'VERSION',
        'either a commit for all functions (at least its first 7 characters), or versions such as updateInventory=12 listOrders=7; without this option, the newest earlier commit with different code',
        { multiple: true },
      ),
      json: jsonBeside,
      yes,
    },
  },
  costs: {
    summary: 'Calculate the costs of the service, and compare them with its bill',
    default: 'table',
    about: [
      'Prints what requests and a month cost, according to a model: units that the tests measure, times AWS\'s list prices without tax, times the traffic. The subcommand "report" turns AWS\'s bill into a page.',
      'Without a subcommand, "table" runs. npx petstore costs table --help lists its options, such as --stage and --requests.',
    ],
    subcommands: {
      table: {
        summary: "Calculate the costs per request, per month, and at every throttle's limit",
        about:
          "Prints three tables. The first has the price of a million requests: for each operation, its usual and its most expensive request; also for a sale and a cart. The second has a month's costs by operation and AWS service. The third has the costs of a month in which every throttle is at its limit. Without --requests or --traffic, the requests are those of infra/costs/traffic.json.",
        options: {
          ...pricedStage,
          ...traffic,
          times: text('N', 'multiply the requests by this number, such as 2 or 0.5', kinds.factor),
          json,
        },
      },
      report: {
        summary: "Write a report on a month's bill",
        argument: '<BILL...>',
        about: [
          'Writes one HTML page, for email or print, to standard output: npx petstore costs report bill.parquet > october.html',
          "The page has the results of the queries in infra/costs/bill.sql: the reasons to doubt the total, what was paid, each kind of usage beside the model's price, the price per million requests, the days that differ from the two weeks before, and the cost of each day.",
          'BILL is either a file of a CUR 2.0, FOCUS 1.0 or FOCUS 1.2 export (CSV, gzipped CSV or Parquet), or a folder with such files. The bill needs the cost allocation tags "service" and "stage". If the files include the month before, the page shows both months. Days are in UTC.',
        ],
        options: {
          ...pricedStage,
          month: text(
            'MONTH',
            'the month, such as 2026-10; without this option, the newest month in the files',
            kinds.pattern(/^\d{4}-(0[1-9]|1[0-2])$/, 'a month such as 2026-10'),
          ),
        },
      },
    },
  },
  docs: {
    summary: 'Write the documentation to dist/docs',
    about:
      "Writes the guides, the reference and the client's package, with the base URLs of the deployed stages. A stage's base URL comes from its baseAddress or customDomain in infra/stages/stages.ts, or else from the output BaseUrl of its stack. Reading this output needs AWS credentials. A stage whose base URL is unknown is left out.",
  },
} as const satisfies Record<string, CommandText>;

export type CommandName = keyof typeof commands;
export const commandNames = Object.keys(commands) as CommandName[];
