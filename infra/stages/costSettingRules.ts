import { isEmailAddress, isRecord, isWithin, matches } from './settingValues.ts';
import { tableNames } from './tables.ts';

/** What the settings of `CostSettings` must be. */
export const costSettingRules = {
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
} as const;

function isTraceSampling(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { reservedPerSecond, percent, ...more } = value;
  return (
    Object.keys(more).length === 0 &&
    isWithin(0, 1_000)(reservedPerSecond) &&
    isNumber(percent) &&
    percent >= 0 &&
    percent <= 100
  );
}

/** AWS Budgets' limits: https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_budgets_CreateBudget.html */
function isBudget(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { monthlyDollars, notify, actualPercent, forecastPercent, ...more } = value;
  return (
    Object.keys(more).length === 0 &&
    isPositive(monthlyDollars) &&
    isListOf(notify, isEmailAddress) &&
    isListOf(actualPercent, isPositive) &&
    isListOf(forecastPercent, isPositive) &&
    isWithin(1, 10)(notify.length) &&
    isWithin(1, 5)(actualPercent.length + forecastPercent.length)
  );
}

/** Of values that are valid, each once. */
function isListOf(value: unknown, isValid: (one: unknown) => boolean): value is unknown[] {
  return Array.isArray(value) && value.every(isValid) && new Set(value).size === value.length;
}

function isUnits(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { read, write, ...more } = value;
  return Object.keys(more).length === 0 && [read, write].every(isWithin(1, 1_000_000));
}

function isPositive(value: unknown): boolean {
  return isNumber(value) && value > 0;
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}
