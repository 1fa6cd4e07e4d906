import * as z from 'zod';
import { mapOperations, operations } from '../../shared/contract/operations.ts';
import { canReserve } from './concurrency.ts';
import { toNames } from './resourceNames.ts';
import { regions, type StageSettings, stageSettings } from './stageSettings.ts';
import { operationSettings, type Stage, type StageName, stages, stagesFile } from './stages.ts';
import { tableNames } from './tables.ts';

/** A stage's settings cannot be deployed. The message is one line that says what to change in `stages.ts`. */
export class StageSettingsError extends Error {
  override readonly name = 'StageSettingsError';
}

/**
 * Refuses invalid settings before anything is built.
 * @throws {StageSettingsError} at the first setting that is wrong
 */
export function checkStageSettings(stage: Stage): void {
  const [wrong] = findWrongSettings(stage);
  if (wrong) throw new StageSettingsError(wrong.text);
}

/**
 * For the commands that an incident needs. They find the stage by its name, account and region.
 * @returns a line for each other setting that is wrong
 * @throws {StageSettingsError} if one of the three is wrong
 */
export function checkStagePlace(stage: Stage): string[] {
  const wrong = findWrongSettings(stage);
  const ofPlace = wrong.find(({ field }) => ['name', 'account', 'region'].includes(field));
  if (ofPlace) throw new StageSettingsError(ofPlace.text);
  return wrong.map(({ text }) => text);
}

function findWrongSettings({ name, settings }: Stage): { field: string; text: string }[] {
  if (!stageName.test(name)) {
    const rule = `the name of a stage must be 1 to 23 lower-case letters and digits, beginning with a letter; it is "${name}".`;
    return [{ field: 'name', text: `${stagesFile}: ${rule}` }];
  }
  const ofStage = stageSettings
    .superRefine(checkTogether)
    .superRefine((all, context) => checkNeighbours(name, all, context));
  return [
    ...findWrongValues(name, ofStage, settings),
    ...findWrongValues('operationSettings', ofOperations, operationSettings),
  ];
}

function findWrongValues(name: string, schema: z.ZodType, settings: object) {
  const { issues = [] } = schema.safeParse(settings, { error: describeIssue }).error ?? {};
  // A misspelt setting is also missing: the wrong name says more.
  const isName = ({ code }: z.core.$ZodIssue) => code === 'unrecognized_keys';
  const ordered = [...issues.filter(isName), ...issues.filter((issue) => !isName(issue))];
  return ordered.flatMap(splitUnionIssue).map(({ path, message, code }) => {
    const value = path.reduce<unknown>((at, key) => at?.[key as keyof typeof at], settings);
    const isMissing = value === undefined;
    // What is around an unrecognized key may be long, and says nothing of it.
    const isShown = path.length > 0 && !isMissing && code !== 'unrecognized_keys';
    const found = isShown ? `; it is ${JSON.stringify(value)}` : '';
    const rule = isMissing && code !== 'custom' ? 'must be set' : `${message}${found}`;
    const text = `${stagesFile}: ${[name, ...path].join('.')}: ${rule}.`;
    return { field: String(path[0]), text };
  });
}

const kinds: Readonly<Record<string, string>> = {
  ...{ object: 'an object, in { }', record: 'an object, in { }' },
  ...{ array: 'a list, in [ ]', tuple: 'a list, in [ ]', int: 'a whole number' },
};

/** In place of messages of the library that do not say what would be right. */
const describeIssue: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === 'invalid_type' && kinds[issue.expected]) {
    return `must be ${kinds[issue.expected]}`;
  }
  if (issue.code !== 'unrecognized_keys') return undefined;
  const names = issue.keys.map((key) => JSON.stringify(key)).join(' and ');
  return `must not have ${names}: delete it, or take its right name from infra/stages/stageSettings.ts`;
};

/** What is wrong within a value that is of one kind of a union, such as a budget in place of `'none'`. */
function splitUnionIssue(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const parts = issue.errors.find((own) => own.every(({ path }) => path.length > 0));
  return parts?.map((part) => ({ ...part, path: [...issue.path, ...part.path] })) ?? [issue];
}

/**
 * Every resource name contains the stage's name. X-Ray allows 32 characters for `petstore-NAME`.
 * A dash would let stage `a-watch` collide with the watch stack of stage `a`.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-xray-samplingrule-samplingrule.html
 */
const stageName = /^[a-z][a-z0-9]{0,22}$/;

/** Rules that concern several settings, or AWS. They are left out while a setting has the wrong type. */
function checkTogether(settings: StageSettings, { addIssue }: z.RefinementCtx): void {
  const { account, region, customDomain, backupRegion, alarms = {} } = settings;
  const [, , , certificateRegion, certificateAccount] =
    customDomain?.certificateArn.split(':') ?? [];
  const refuse = (path: string, message: string) =>
    addIssue({ code: 'custom', path: path.split('.'), message });
  for (const field of ['quietMinutes', 'alarms', 'checkEveryMinutes'] as const) {
    if (settings[field] !== undefined && !settings.raisesAlarms) {
      refuse(field, 'must not be set without raisesAlarms, since nobody would be notified');
    }
  }
  if (settings.raisesAlarms && !settings.protectsData) {
    refuse(
      'protectsData',
      'must be true where raisesAlarms is: without it, tables and stacks have no protection',
    );
  }
  if (settings.raisesAlarms && settings.budget === undefined) {
    const example = `{ monthlyDollars: 50, notify: ['finance@shop.example'], actualPercent: [80, 100], forecastPercent: [100] }`;
    refuse(
      'budget',
      `must be set with raisesAlarms, such as ${example}, or 'none' if nobody shall be warned of costs`,
    );
  }
  for (const [severity, target] of Object.entries(alarms)) {
    const topicRegion = /^arn:aws:sns:([^:]+)/.exec(target)?.[1];
    if (region && topicRegion && topicRegion !== region) {
      refuse(`alarms.${severity}`, 'must be a topic in the same region');
    }
  }
  if (customDomain && certificateRegion !== region) {
    refuse('customDomain', 'must have a certificate in the same region, and region must be set');
  }
  if (customDomain && account && certificateAccount !== account) {
    refuse('customDomain', 'must have a certificate of the same account');
  }
  if (backupRegion && (!regions.includes(backupRegion) || !region || backupRegion === region)) {
    refuse('backupRegion', 'must be an AWS region other than region, and region must be set');
  }
  for (const field of ['firewallRequestsPerAddress', 'firewallListsPerClient'] as const) {
    if (settings[field] !== undefined && !settings.firewall) {
      refuse(field, 'must not be set without the firewall');
    }
  }
  if (!canReserve(settings)) {
    refuse(
      'reservedConcurrency',
      'must leave 100 of accountConcurrency unreserved, and accountConcurrency must be set',
    );
  }
}

/** Rules that concern other stages. A domain name exists once in a region. */
function checkNeighbours(
  name: StageName,
  settings: StageSettings,
  { addIssue }: z.RefinementCtx,
): void {
  const { customDomain, region, restoredTables = {} } = settings;
  const twin = Object.values(stages)
    .filter((other) => other.name !== name && other.settings.region === region)
    .find((other) => other.settings.customDomain?.name === customDomain?.name);
  if (customDomain && twin) {
    const message = `must be another than that of ${twin.name}`;
    addIssue({ code: 'custom', path: ['customDomain'], message });
  }
  for (const table of tableNames) {
    const [origin] = tableOfStage.exec(restoredTables[table] ?? '') ?? [];
    const own = toNames({ name }).toTable(table);
    if (origin !== undefined && origin !== own) {
      const message = `must be a table restored from ${own}`;
      addIssue({ code: 'custom', path: ['restoredTables', table], message });
    }
  }
}

/** What the names of restored tables begin with in infra/OPERATIONS.md. */
const tableOfStage = new RegExp(`^petstore-[a-z0-9]+-(${tableNames.join('|')})\\b`);

/**
 * The longest timeouts, in seconds. The gateway gives up on a buffered response after 29: a function ends before that,
 * and logs the reason. https://docs.aws.amazon.com/lambda/latest/dg/configuration-timeout.html
 */
const maxTimeout = { buffered: 28, streamed: 900 };

const ofOperations = z.strictObject(
  mapOperations((id) => {
    const max = operations[id].streamed ? maxTimeout.streamed : maxTimeout.buffered;
    return z
      .strictObject({
        timeoutSeconds: z.int().min(1).max(max),
        availabilityPercent: z.number().gt(0).lt(100),
        latencyMilliseconds: z.number().positive(),
        // The compiler checks it.
        access: z.unknown(),
      })
      .refine((own) => own.latencyMilliseconds < 1_000 * own.timeoutSeconds, {
        path: ['latencyMilliseconds'],
        message: 'must be below 1000 * timeoutSeconds, or no alarm on it can fire',
      });
  }),
);
