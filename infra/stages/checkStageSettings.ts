import { type SettingRule, settingRules } from './settingRules.ts';
import { isRecord } from './settingValues.ts';
import { type Stage, stagesFile } from './stages.ts';

/** A stage's settings cannot be deployed; the message is one line for whoever edits `stages.ts`. */
export class StageSettingsError extends Error {
  override readonly name = 'StageSettingsError';

  constructor(stage: string, field: string, rule: string, value: unknown) {
    const found = value === undefined ? 'missing' : JSON.stringify(value);
    super(`${stagesFile}: ${field} of ${stage} must be ${rule}; it is ${found}.`);
  }
}

/**
 * Refuses settings that make no sense before anything is built of them.
 * @throws {StageSettingsError} at the first setting that is wrong
 */
export function checkStageSettings({ name: stage, settings }: Stage): void {
  const given: Record<string, unknown> = { ...settings };
  for (const [field, value] of Object.entries(given)) {
    if (!Object.hasOwn(settingRules, field)) {
      throw new StageSettingsError(stage, field, 'removed, since there is no such setting', value);
    }
  }
  for (const [field, setting] of Object.entries<SettingRule>(settingRules)) {
    const value = given[field];
    if (value === undefined && setting.isOptional) continue;
    for (const [name, part] of toParts(stage, field, setting, value)) {
      if (!setting.isValid(part, settings)) {
        throw new StageSettingsError(stage, name, setting.rule, part);
      }
    }
  }
}

/** The setting itself, or the values that it has for each of its parts. */
function toParts(
  stage: string,
  field: string,
  { parts, isOptional }: SettingRule,
  value: unknown,
): [name: string, value: unknown][] {
  if (parts === undefined) return [[field, value]];
  if (!isRecord(value)) {
    throw new StageSettingsError(stage, field, `an object with ${parts.join(', ')}`, value);
  }
  const names = new Set([...(isOptional ? [] : parts), ...Object.keys(value)]);
  return [...names].map((name) => {
    if (!parts.includes(name)) {
      throw new StageSettingsError(stage, `${field}.${name}`, `one of ${parts.join(', ')}`, name);
    }
    return [`${field}.${name}`, value[name]];
  });
}

/** What stands in the settings until whoever deploys the service has addresses of their own. */
const exampleAddress = /petstore\.example/;

/** One line that names the settings of a stage that are examples still, and would send clients nowhere. */
export function findExampleSettings({ name, settings }: Stage): string | undefined {
  const { baseAddress, documentationAddress, allowedOrigins } = settings;
  const fields = Object.entries({ baseAddress, documentationAddress, allowedOrigins })
    .filter(([, value]) => exampleAddress.test(String(value)))
    .map(([field]) => field);
  if (fields.length === 0) return undefined;
  return `${stagesFile}: examples of ours stand in ${fields.join(', ')} of ${name}; set your own before you deploy.`;
}
