import { RegionInfo } from 'aws-cdk-lib/region-info';
import { operationIds } from '../../shared/contract/operations.ts';
import { canReserve } from './concurrency.ts';
import { toTableName } from './resourceNames.ts';
import {
  isAddress,
  isBaseAddress,
  isBoolean,
  isBudget,
  isCustomDomain,
  isEmailAddress,
  isOrigins,
  isPositive,
  isThrottle,
  isTopicArn,
  isTraceSampling,
  isUnits,
  isWithin,
  matches,
} from './settingValues.ts';
import {
  accountThrottle,
  logRetentionDays,
  rollouts,
  type StageSettings,
  severities,
} from './stageSettings.ts';
import { stageNames } from './stages.ts';
import { tableNames, tables } from './tables.ts';

/** What a setting must be. */
export interface SettingRule {
  readonly isOptional?: true;
  /** The names that the setting has a value for; the rule is then for each of the values. */
  readonly parts?: readonly string[];
  /** What a value must be; a complaint ends in it. */
  readonly rule: string;
  isValid(value: unknown, settings: StageSettings): boolean;
}

const ownTables = stageNames.flatMap((name) =>
  tableNames.map((table) => toTableName({ name }, table)),
);

const regions = RegionInfo.regions.map(({ name }) => name);
const isRegion = (value: unknown) => regions.some((region) => region === value);

export const settingRules: Record<keyof StageSettings, SettingRule> = {
  purpose: { rule: 'a few words, at most 100 letters', isValid: matches(/^\S.{0,98}\S$/) },
  account: { isOptional: true, rule: '12 digits in quotes', isValid: matches(/^\d{12}$/) },
  region: {
    isOptional: true,
    rule: `one of ${regions.join(', ')}`,
    isValid: isRegion,
  },
  documentationAddress: {
    rule: 'an address such as "https://docs.shop.example" without a slash at the end',
    isValid: isAddress,
  },
  allowedOrigins: {
    rule: '["*"], or origins such as "https://shop.example" without a path or a slash at the end, each once',
    isValid: isOrigins,
  },
  customDomain: {
    isOptional: true,
    rule: 'a name such as "api.shop.example" and the certificateArn of a certificate from ACM in the same region',
    isValid: (value, settings) => isCustomDomain(value, settings.region),
  },
  baseAddress: {
    rule: 'an address such as "https://api.shop.example/v1", with the name of customDomain where that is set',
    isValid: (value, { customDomain }) => isBaseAddress(value, customDomain?.name),
  },
  logLevel: { rule: 'TRACE, DEBUG or INFO', isValid: matches(/^(TRACE|DEBUG|INFO)$/) },
  logRetentionDays: {
    rule: `one of ${logRetentionDays.join(', ')}`,
    isValid: (value) => logRetentionDays.some((days) => days === value),
  },
  raisesAlarms: { rule: 'true or false', isValid: isBoolean },
  alarms: {
    isOptional: true,
    parts: severities,
    rule: 'an e-mail address such as "ops@shop.example", or the ARN of a topic',
    isValid: (value) => isEmailAddress(value) || isTopicArn(value),
  },
  checkEveryMinutes: {
    isOptional: true,
    rule: 'a whole number from 1 to 60',
    isValid: isWithin(1, 60),
  },
  quietMinutes: {
    isOptional: true,
    rule: 'a whole number from 1 to 1440',
    isValid: isWithin(1, 1_440),
  },
  protectsData: { rule: 'true or false', isValid: isBoolean },
  backupRegion: {
    isOptional: true,
    rule: 'a region such as "eu-central-1", other than region, which must be set too',
    isValid: (value, settings) =>
      isRegion(value) && settings.region !== undefined && value !== settings.region,
  },
  restoredTables: {
    isOptional: true,
    parts: Object.keys(tables),
    rule: "a restored table's name, 3 to 255 letters, digits, dots, dashes or underscores, and none of a stage's own",
    isValid: (value) => matches(/^[\w.-]{3,255}$/)(value) && !ownTables.includes(String(value)),
  },
  throttles: {
    parts: [...operationIds, 'other'],
    rule: `a rate above 0 and at most ${accountThrottle.rate}, and a whole burst of at most ${accountThrottle.burst}, not below the rate unless it is that`,
    isValid: isThrottle,
  },
  memoryMegabytes: {
    parts: operationIds,
    rule: 'a whole number from 128 to 10240',
    isValid: isWithin(128, 10_240),
  },
  reservedConcurrency: {
    isOptional: true,
    parts: operationIds,
    rule: 'a whole number from 0; all together must leave 100 of accountConcurrency, which must be set',
    isValid: (value, settings) => isWithin(0, 1_000_000)(value) && canReserve(settings),
  },
  accountConcurrency: {
    isOptional: true,
    rule: 'a whole number from 1',
    isValid: isWithin(1, 1_000_000),
  },
  rollout: {
    rule: rollouts.join(' or '),
    isValid: (value) => rollouts.some((rollout) => rollout === value),
  },
  firewall: { rule: 'true or false', isValid: isBoolean },
  owner: {
    rule: 'a name such as "petstore team", at most 256 letters, digits, spaces and any of _.:/=+-',
    // What DynamoDB takes as a tag: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Tagging.html
    isValid: matches(/^(?! )[\p{L}\p{N} _.:/=+-]{1,256}(?<! )$/u),
  },
  tracing: {
    rule: 'a whole reservedPerSecond from 0 to 1000 and a percent from 0 to 100',
    isValid: isTraceSampling,
  },
  inventoryEntries: {
    rule: 'a whole number from 0 to 1000000000',
    isValid: isWithin(0, 1_000_000_000),
  },
  worstMonthDollars: { rule: 'a number of dollars above 0', isValid: isPositive },
  budget: {
    isOptional: true,
    rule: 'monthlyDollars above 0, 1 to 10 addresses such as "finance@shop.example" to notify, and 1 to 5 percentages above 0 in actualPercent and forecastPercent together, each once in its list',
    isValid: isBudget,
  },
  maximumUnitsPerSecond: {
    parts: tableNames,
    rule: 'a whole read and a whole write from 1 to 1000000',
    isValid: isUnits,
  },
};
