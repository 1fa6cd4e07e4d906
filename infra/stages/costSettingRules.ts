import { isRecord, isWithin, matches } from './settingValues.ts';

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

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}
