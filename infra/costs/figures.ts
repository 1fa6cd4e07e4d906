import { readFileSync } from 'node:fs';
import type { StageSettings } from '../stages/stageSettings.ts';
import type { Stage } from '../stages/stages.ts';
import { readPrices } from './prices.ts';
import { readRecordedUnits, readSizes } from './units/responseUnits.ts';

/** The metrics that AWS bills: those of every stage, those that a setting adds, and those of a reserved concurrency. */
export type MetricCounts = Readonly<
  Record<(typeof countedSettings)[number] | 'always' | 'reservation', BilledMetrics>
>;
type BilledMetrics = Readonly<Record<'alarmMetrics' | 'compositeAlarms' | 'customMetrics', number>>;

export const countedSettings = [
  ...(['rollout', 'raisesAlarms', 'checkEveryMinutes', 'quietMinutes'] as const),
  ...(['accountConcurrency', 'firewall'] as const),
] as const;
const pricedSettings = [
  ...countedSettings,
  ...(['alarms', 'logRetentionDays', 'memoryMegabytes', 'protectsData'] as const),
  // The worst month also depends on these.
  ...(['inventoryEntries', 'reservedConcurrency', 'throttles', 'tracing'] as const),
  'region',
] as const;

export type PricedSettings = Pick<StageSettings, (typeof pricedSettings)[number]>;

export type PricedStage = Pick<Stage, 'name'> & { readonly settings: PricedSettings };

/** All that the model calculates with, besides the traffic and the settings of a stage. */
export type Figures = ReturnType<typeof readFigures>;

/** @param stage for the sizes of its entries; the largest possible without it */
export function readFigures({ region }: Pick<StageSettings, 'region'> = {}, stage?: string) {
  return {
    units: readRecordedUnits(),
    sizes: readSizes(stage),
    prices: readPrices(region).prices,
    metrics: readCommittedFigures().metrics,
  };
}

/** The figures that are code or counted, as data, so that `costs diff` needs no code of another commit. */
export type CommittedFigures = ReturnType<typeof toCommittedFigures>;

/** `npm run figures` writes it. */
export const figuresFile = new URL('figures.json', import.meta.url);

export function readCommittedFigures(): CommittedFigures {
  return JSON.parse(readFileSync(figuresFile, 'utf8'));
}

export function toCommittedFigures(metrics: MetricCounts, stages: readonly Stage[]) {
  const settings = stages.map((stage) => [
    stage.name,
    Object.fromEntries(pricedSettings.map((name) => [name, stage.settings[name]])),
  ]);
  const all: Partial<Record<string, PricedSettings>> = Object.fromEntries(settings);
  return { metrics, stages: all };
}
