import { RegionInfo } from 'aws-cdk-lib/region-info';
import type * as z from 'zod';
import { canReserve } from './concurrency.ts';
import { type StageSettings, stageSettings } from './stageSettings.ts';
import { type Stage, stagesFile } from './stages.ts';

/** A stage's settings cannot be deployed. The message is one line that says what to change in `stages.ts`. */
export class StageSettingsError extends Error {
  override readonly name = 'StageSettingsError';
}

/**
 * Refuses invalid settings before anything is built.
 * @throws {StageSettingsError} at the first setting that is wrong
 */
export function checkStageSettings({ name, settings }: Stage): void {
  if (!stageName.test(name)) {
    throw new StageSettingsError(
      `${stagesFile}: the name of a stage must be 1 to 23 lower-case letters and digits, beginning with a letter; it is "${name}".`,
    );
  }
  const [issue] = stageSettings.superRefine(checkTogether).safeParse(settings).error?.issues ?? [];
  if (!issue) return;
  const { path, message } = issue;
  const value = path.reduce<unknown>((at, key) => at?.[key as keyof typeof at], settings);
  const field = `${stagesFile}: ${[name, ...path].join('.')}`;
  if (value === undefined) throw new StageSettingsError(`${field}: must be set.`);
  const found = path.length > 0 ? `; it is ${JSON.stringify(value)}` : '';
  throw new StageSettingsError(`${field}: ${message}${found}.`);
}

/**
 * Every resource name contains the stage's name. X-Ray allows 32 characters for `petstore-NAME`.
 * A dash would let stage `a-watch` collide with the watch stack of stage `a`.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-xray-samplingrule-samplingrule.html
 */
const stageName = /^[a-z][a-z0-9]{0,22}$/;

/** The regions of the partition `aws`, where the prices, policies and endpoints of this service apply. */
const regions = RegionInfo.regions
  .filter(({ partition }) => partition === 'aws')
  .map(({ name }) => name);

/** Rules that concern several settings, or AWS. */
function checkTogether(settings: StageSettings, { addIssue }: z.RefinementCtx): void {
  const { account, region, customDomain, backupRegion, alarms = {} } = settings;
  const [, , , certificateRegion, certificateAccount] =
    customDomain?.certificateArn.split(':') ?? [];
  const refuse = (path: string, message: string) =>
    addIssue({ code: 'custom', path: path.split('.'), message });
  if (region !== undefined && !regions.includes(region)) {
    refuse('region', 'must be an AWS region, not one of China, GovCloud or another partition');
  }
  for (const field of ['quietMinutes', 'alarms', 'checkEveryMinutes'] as const) {
    if (settings[field] !== undefined && !settings.raisesAlarms) {
      refuse(field, 'must not be set without raisesAlarms, since nobody would be notified');
    }
  }
  for (const [severity, target] of Object.entries(alarms)) {
    const topicRegion = /^arn:aws:sns:([^:]+)/.exec(target)?.[1];
    if (region && topicRegion && topicRegion !== region) {
      refuse(`alarms.${severity}`, 'must be a topic in the same region');
    }
  }
  if (customDomain && region && certificateRegion !== region) {
    refuse('customDomain', 'must have a certificate in the same region');
  }
  if (customDomain && account && certificateAccount !== account) {
    refuse('customDomain', 'must have a certificate of the same account');
  }
  if (backupRegion && (!regions.includes(backupRegion) || !region || backupRegion === region)) {
    refuse('backupRegion', 'must be an AWS region other than region, and region must be set');
  }
  if (settings.firewallRequestsPerAddress !== undefined && !settings.firewall) {
    refuse('firewallRequestsPerAddress', 'must not be set without the firewall');
  }
  if (!canReserve(settings)) {
    refuse(
      'reservedConcurrency',
      'must leave 100 of accountConcurrency unreserved, and accountConcurrency must be set',
    );
  }
}
