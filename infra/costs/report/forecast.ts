import { findBudget } from '../../stages/stageSettings.ts';
import type { Stage } from '../../stages/stages.ts';
import { sumOf } from '../bills/usage.ts';
import { checkLimits } from '../checkMonths.ts';
import { type DayRange, toDay } from '../costOptions.ts';

/** 90 % of a normal distribution are within as many standard deviations. */
const DEVIATIONS = 1.645;

/**
 * What a month will cost, before credits and tax: the days so far, and the others as these were. After a month that is
 * over, it is that of the next one.
 * @param ofRequests the part that grows with requests
 * @param daily a measure of each day's traffic, which says how much days differ
 * @param days how many the month has, and how many of them are in `dollars`
 */
export function forecastMonth(
  stage: Stage,
  month: DayRange,
  dollars: number,
  ofRequests: number,
  daily: readonly number[],
  days: { readonly all: number; readonly known: number; readonly isOver: boolean },
  accepted: number | undefined,
) {
  const { all, known, isOver } = days;
  const rest = isOver ? all : all - known;
  const expected = (isOver ? 0 : dollars) + (dollars / known) * rest;
  const mean = sumOf(daily, (one) => one) / daily.length;
  const variance = sumOf(daily, (one) => (one - mean) ** 2) / (daily.length - 1);
  const deviation = (ofRequests / known) * (Math.sqrt(variance) / mean);
  // The days to come differ, and so may the mean of the days so far from that of others.
  const margin = DEVIATIONS * deviation * Math.sqrt(rest + rest ** 2 / daily.length);
  const hasBand = daily.length >= 5 && Number.isFinite(margin);
  const { isWithin, limits } = checkLimits(stage, expected, accepted ?? 0);
  return {
    month: toDay(isOver ? month.end : month.from).slice(0, 7),
    expected,
    /** Nine months of ten are within it, if days differ as they did. */
    band: hasBand ? { from: Math.max(0, expected - margin), to: expected + margin } : undefined,
    accepted,
    budget: findBudget(stage.settings)?.monthlyDollars,
    isWithin: accepted !== undefined && isWithin,
    limits,
  };
}
