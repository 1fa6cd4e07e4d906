import { RegionInfo } from 'aws-cdk-lib/region-info';
import type * as z from 'zod';
import { canReserve } from './concurrency.ts';
import { type StageSettings, stageSettings } from './stageSettings.ts';
import { type Stage, stagesFile } from './stages.ts';

/** A stage's settings cannot be deployed; the message is one line for whoever edits `stages.ts`. */
export class StageSettingsError extends Error {
  override readonly name = 'StageSettingsError';
}

/**
 * Refuses settings that make no sense before anything is built of them.
 * @throws {StageSettingsError} at the first setting that is wrong
 */
export function checkStageSettings({ name, settings }: Stage): void {
  if (!stageName.test(name)) {
    throw new StageSettingsError(
      `${stagesFile}: the name of a stage must be 1 to 23 lower-case letters and digits, a letter first; it is "${name}".`,
    );
  }
  const [issue] = stageSettings.superRefine(checkTogether).safeParse(settings).error?.issues ?? [];
  if (!issue) return;
  const { path, message } = issue;
  const value = path.reduce<unknown>((at, key) => at?.[key as keyof typeof at], settings);
  const found = path.length > 0 ? `; it is ${JSON.stringify(value)}` : '';
  throw new StageSettingsError(`${stagesFile}: ${[name, ...path].join('.')}: ${message}${found}.`);
}

/**
 * What all that a stage is made of can be named after: `petstore-NAME` is X-Ray's rule, of at most 32 characters, and
 * a dash in it would make stage `a-watch` of the stack that watches `a`.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-xray-samplingrule-samplingrule.html
 */
const stageName = /^[a-z][a-z0-9]{0,22}$/;

/** Those of the partition `aws`, where the prices, policies and endpoints of this service are. */
const regions = RegionInfo.regions
  .filter(({ partition }) => partition === 'aws')
  .map(({ name }) => name);

/** What settings have to do with each other, and with AWS. */
function checkTogether(settings: StageSettings, { addIssue }: z.RefinementCtx): void {
  const { region, customDomain, backupRegion, alarms = {} } = settings;
  const refuse = (path: string, message: string) =>
    addIssue({ code: 'custom', path: path.split('.'), message });
  if (region !== undefined && !regions.includes(region)) {
    refuse('region', 'must be a region of AWS, and not of China, GovCloud or another partition');
  }
  for (const field of ['quietMinutes', 'alarms', 'checkEveryMinutes'] as const) {
    if (settings[field] !== undefined && !settings.raisesAlarms) {
      refuse(field, 'must not be set without raisesAlarms, since nobody would be told');
    }
  }
  for (const [severity, target] of Object.entries(alarms)) {
    const topicRegion = /^arn:aws:sns:([^:]+)/.exec(target)?.[1];
    if (region && topicRegion && topicRegion !== region) {
      refuse(`alarms.${severity}`, 'must be a topic of the same region');
    }
  }
  if (customDomain && region && customDomain.certificateArn.split(':')[3] !== region) {
    refuse('customDomain', 'must have a certificate of the same region');
  }
  if (backupRegion && (!regions.includes(backupRegion) || !region || backupRegion === region)) {
    refuse('backupRegion', 'must be a region other than region, which must be set too');
  }
  if (!canReserve(settings)) {
    refuse('reservedConcurrency', 'must leave 100 of accountConcurrency, which must be set');
  }
}
