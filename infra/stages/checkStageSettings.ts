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
  const [issue] = stageSettings.superRefine(checkTogether).safeParse(settings).error?.issues ?? [];
  if (!issue) return;
  const { path, message } = issue;
  const value = path.reduce<unknown>((at, key) => at?.[key as keyof typeof at], settings);
  const found = path.length > 0 ? `; it is ${JSON.stringify(value)}` : '';
  throw new StageSettingsError(`${stagesFile}: ${[name, ...path].join('.')}: ${message}${found}.`);
}

const regions = RegionInfo.regions.map(({ name }) => name);

/** What settings have to do with each other, and with AWS. */
function checkTogether(settings: StageSettings, { addIssue }: z.RefinementCtx): void {
  const { region, customDomain, backupRegion } = settings;
  const refuse = (path: string, message: string) =>
    addIssue({ code: 'custom', path: [path], message });
  if (region !== undefined && !regions.includes(region))
    refuse('region', 'must be a region of AWS');
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
