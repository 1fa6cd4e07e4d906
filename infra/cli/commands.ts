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
  'KEY is the key itself, its key id, which is the ten characters after psk_, or its name. If several working keys have the name, asks which. With - in its place, reads it from standard input, or asks for it without showing it: an argument is visible in ps and in the shell history.';
/** The requests of a month. */
const traffic = {
  requests: text(
    'LIST',
    'a list such as listOrders=2M,updateInventory:412=1k or listInventory:gzip=500k, with the names of infra/costs/units.json; or a number such as 10M, in the mix of infra/costs/traffic.json',
  ),
  traffic: text(
    'FILE',
    'a file such as {"entries": 1000, "requests": {"listOrders": 2000000}}; - for standard input',
  ),
  entries: text(
    'N',
    'the number of entries in the inventory; by default, entries in infra/costs/traffic.json, but for the most expensive requests the setting inventoryEntries',
    kinds.whole(),
  ),
} as const;

export const commands = {
  start: {
    summary: 'Run the service on this machine',
    about: [
      'Runs the functions behind a gateway on the loopback address. The data is in an embedded DynamoDB emulator. The documentation is served beside them, and requests can be tried in it. Logs go to standard error.',
      'Ctrl-C stops the service once in-flight requests have completed; a second Ctrl-C stops it at once.',
    ],
    options: {
      port: text('N', 'the port; 0 picks a free one', { ...port, default: '3000' }),
      data: text(
        'FILE.json',
        'the data to load, {"inventory": [...], "pets": [...], "orders": [...]}; without it, a sample of fifty pets and twenty orders',
      ),
      dir: text(
        'FOLDER',
        'keep the data in this folder between runs; without it, in memory. The folder must be new, empty, or from an earlier run. Data in it is used as it is; with --data, the entries of the file replace those with the same id. Each start creates new API keys',
      ),
      fail: text(
        'STATUS:SHARE',
        "fail this share of the requests with this error status, such as 503:0.1, with the contract's headers and body, to test clients; may be repeated",
        { multiple: true },
      ),
      delay: text('200ms', 'send the responses of operations this much later, at most 29s', {
        ...kinds.delay,
        default: '0ms',
      }),
      lose: text(
        '0.1',
        'for this share of the requests, close the connection instead of responding, after the request took effect',
        { ...kinds.share, default: '0' },
      ),
      throttle: {
        ...stage,
        about: 'refuse with 429 what exceeds the throttles of this stage',
      },
      'expose-dynamodb': text(
        'PORT',
        'let the commands keys, import and export use these tables, with --endpoint http://127.0.0.1:PORT; 0 picks a free port',
        port,
      ),
    },
  },
  keys: {
    summary: 'Create, list, rotate and revoke API keys',
    about:
      'create and rotate print the new key once, and nothing else on standard output: KEY=$(npx petstore keys create …). The table stores no secret.',
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
            'when the key expires: after a time such as 90d, at 0:00 UTC of a day such as 2027-01-31, or at a time such as 2027-01-31T18:00:00Z; never without this option',
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
        summary: 'Create the successor of a key and print it',
        argument: '<KEY>',
        about: [
          'Creates a successor and prints it. The old key keeps working for the grace period. Asks first if the period is 0s, or if the key has a successor.',
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
        summary: 'Store a key for the scheduled check and smoke',
        about:
          'Makes sure that the stage\'s scheduled check and smoke test have a read key. If the key in Parameter Store does not work, was rotated, or has write permission, creates a key named "check" and stores it there. Prints the key id, never the key.',
        options: { stage: oneUrgentStage },
      },
    },
  },
  import: {
    summary: 'Load data files into the tables of a stage',
    about: [
      'Checks every row before it writes the first. Entries that a table already has are kept, so the same command can be run again after an interruption. The summary counts what is new, replaced, kept and unchanged.',
      'Reports ids that a spreadsheet seems to have rounded, such as 9223372036854770000, and asks before it writes anything.',
      'Exits with 0 if all is done or you answer no, 1 if it failed, 2 if the command line or the format of a file is wrong or it needs --yes, 130 or 143 if it was interrupted: run it again.',
    ],
    options: {
      ...place,
      inventory: text('FILE.csv', 'CSV; the first line is petId,quantity,status'),
      pets: text('FILE.jsonl', 'JSON Lines: one object a line, as in responses'),
      orders: text('FILE.jsonl', 'JSON Lines, as for pets'),
      'dry-run': flag('check everything, count what would be new or replaced, and write nothing'),
      overwrite: flag(
        'replace existing entries; sales since the file was made are lost. Asks first on a stage',
      ),
      'overwrite-if-unchanged': text(
        'FILE',
        'replace entries of the inventory that have not changed since this earlier export, and name those that have changed; with --inventory alone',
      ),
      'max-wcu': text('N', 'use at most N write request units a second', kinds.whole(1, 9_999_999)),
      yes,
    },
  },
  export: {
    summary: 'Write the tables of a stage to data files',
    about: [
      'Writes files that npx petstore import can load. Rows are sorted by id, so the same data gives the same file. An existing file is replaced once the new one is complete. For standard output, give - as the file.',
      'Reports each invalid record, skips it, and exits with status 1 after writing the rest.',
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
      'Sends at most 100 requests, one of which lists the whole inventory, and prints a row for each check. Changes no entry without --entry. Skips a row that needs an entry if there is none.',
      'Uses the key in PETSTORE_API_KEY, or else the one that npx petstore keys check stored for the stage.',
      'Exits with 0 if no row failed, 1 if one did, 2 if the command line is invalid.',
    ],
    options: {
      stage: { ...urgentStage, about: `${stage.about}; also says which commit is live` },
      'base-url': text(
        'URL',
        'the base URL, which ends in /v1, in place of a stage',
        kinds.baseUrl,
      ),
      light: flag('do not list the whole inventory'),
      entry: text('PETID', 'write the stock of this entry back unchanged, with a write key'),
      'expect-commit': flag(
        'fail unless the only live commit is that of this checkout, or PETSTORE_COMMIT if set',
      ),
    },
  },
  status: {
    summary: 'Show what is firing, what is live, what fails and who calls',
    about: [
      'One screen for an engineer who was paged: the alarms that are firing and since when, what is live, the requests that failed in the last hour, their errors with a request id each, the top callers by key and by address, the tables that DynamoDB throttles, and links to the saved queries. It ends with the rows of infra/RUNBOOK.md that apply, with their commands to paste. It changes nothing.',
      'If a part cannot be read, one line says why, and the rest is shown. Its queries of Logs Insights cost $0.005 per GB read: the last hour of each log is read twice. After a deployment that CloudFormation rolled back, the log of its check is read, too.',
      'Exits with 0 when nothing fires, 1 when an alarm fires or something could not be read, 2 when the command line is invalid.',
    ],
    options: { stage: oneUrgentStage, json },
  },
  rollback: {
    summary: 'Send requests back to earlier code',
    about: [
      'Moves requests at once, without a deployment. Shows the version that the alias "live" of each function points to, asks, and moves the aliases. Then updates the stack to the live versions, so that the next deployment starts from them. Run rollback again if that update fails.',
      'If a deployment is still shifting requests, offers to stop it, which shifts them back.',
    ],
    options: {
      stage: oneUrgentStage,
      to: text(
        'VERSION',
        'a commit for all functions, at least its first 7 characters, or versions such as updateInventory=12 listOrders=7; without it, the newest earlier commit with different code',
        { multiple: true },
      ),
      json: jsonBeside,
      yes,
    },
  },
  costs: {
    summary: 'Price the service, and compare it with its bill',
    default: 'table',
    about: [
      "Prints what requests and a month cost, according to a model: units that the tests measure, times AWS's list prices without tax, times the traffic. report turns AWS's bill into a page.",
      'npx petstore costs alone runs table. npx petstore costs table --help lists its options, such as --stage and --requests.',
    ],
    subcommands: {
      table: {
        summary: 'Price requests, a month, and the throttles',
        about:
          "Prints three tables: prices per million of each operation's usual and most expensive request, of a sale and of a cart; a month by operation and AWS service; and a month in which every throttle is at its limit. Without --requests or --traffic, the requests are those of infra/costs/traffic.json.",
        options: {
          ...pricedStage,
          ...traffic,
          times: text('N', 'multiply the requests by this number, such as 2 or 0.5', kinds.factor),
          json,
        },
      },
      report: {
        summary: "Write a page on a month's bill",
        argument: '<BILL...>',
        about: [
          "Writes one HTML page to email or print, with the queries of infra/costs/bill.sql: the reasons to doubt the total, what was paid, each kind of usage beside the model's price, the price per million requests, the days that differ from the two weeks before, and the cost of each day: npx petstore costs report bill.parquet > october.html",
          'BILL is a file of a CUR 2.0 or FOCUS 1.0 or 1.2 export, as CSV, gzipped CSV or Parquet, or a folder with such files. It needs the cost allocation tags "service" and "stage". With the bill of the month before, the page shows both months. Days are in UTC.',
        ],
        options: {
          ...pricedStage,
          month: text(
            'MONTH',
            'the month, such as 2026-10; without it, the newest of the files',
            kinds.pattern(/^\d{4}-(0[1-9]|1[0-2])$/, 'a month such as 2026-10'),
          ),
        },
      },
    },
  },
  docs: {
    summary: 'Write the documentation to dist/docs',
    about:
      "Writes the guides, the reference and the client's package, with the base URLs of the deployed stages. An address is the baseAddress or customDomain in infra/stages/stages.ts, or else the output BaseUrl of the stage's stack, which needs AWS credentials. A stage with an unknown address is left out.",
  },
} as const satisfies Record<string, CommandText>;

export type CommandName = keyof typeof commands;
export const commandNames = Object.keys(commands) as CommandName[];
