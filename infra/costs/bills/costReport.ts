import { operationIds } from '../../../shared/contract/operations.ts';
import { MAX_ADJUSTMENTS } from '../../../shared/contract/values.ts';
import type { Stage } from '../../stages/stages.ts';
import { type PricedStage, readFigures } from '../figures.ts';
import { readPrices, usualRegion } from '../prices.ts';
import {
  findUnits,
  growsWithInventory,
  measuredSizes,
  responsesOf,
} from '../units/responseUnits.ts';
import { toMonth, toStagePricing } from './monthlyBill.ts';
import { sumRequests, type Traffic } from './traffic.ts';
import { type RequestPricing, sumDollars, toCents, toDollarsPerMillion } from './usage.ts';

export type RequestReport = ReturnType<typeof toRequestReport>;

/**
 * What single requests cost, which needs no templates.
 * @param entries the length of the inventory; default: several lengths
 */
export function toRequestReport(
  stage: Stage,
  traffic: Traffic,
  entries?: number,
  figures = readFigures(stage),
) {
  const { region = usualRegion } = stage.settings;
  const pricing = toStagePricing(stage, sumRequests(traffic), figures);
  return {
    stage: stage.name,
    region,
    pricesAsOf: readPrices(region).asOf,
    operations: toOperationCosts(pricing, entries === undefined ? measuredSizes : [entries]),
  };
}

export type CostReport = ReturnType<typeof toCostReport>;

/** As `toRequestReport`, with the month. */
export function toCostReport(
  stage: PricedStage,
  traffic: Traffic,
  entries?: number,
  figures = readFigures(stage),
) {
  const pricing = toStagePricing(stage, sumRequests(traffic), figures);
  const month = toMonth(stage, traffic, pricing);
  return { ...toRequestReport(stage, traffic, entries, figures), month };
}

export function toStageMonth(stage: PricedStage, traffic: Traffic) {
  return toCostReport(stage, traffic).month;
}

export type OperationCost = ReturnType<typeof toOperationCosts>[number];

/** @param sizes the lengths of the inventory that lists are priced for */
export function toOperationCosts(pricing: RequestPricing, sizes: readonly number[]) {
  return operationIds.flatMap((operationId) =>
    responsesOf[operationId].flatMap((response) => {
      const isSized = growsWithInventory(operationId, response);
      return (isSized ? sizes : [0]).flatMap((entries) => {
        const units = findUnits(pricing, operationId, response, entries);
        if (!units) return [];
        const components = toDollarsPerMillion(units, pricing);
        const dollarsPerMillion = sumDollars(components);
        const size = isSized && { entries };
        return [{ operationId, response, ...size, dollarsPerMillion, components }];
      });
    }),
  );
}

/** What a sale costs, in two sentences. */
export function toSafeSaleText({ operations }: RequestReport): string {
  const [one, cart] = ['200', '200 cart'].map((response) => {
    const isSale = (cost: OperationCost) =>
      cost.operationId === 'adjustInventory' && cost.response === response;
    return toCents(operations.find(isSale)?.dollarsPerMillion ?? 0);
  });
  return `A sale is one adjustment, also of a whole cart. A million cost **$${one}** with one pet each, and **$${cart}** with ${MAX_ADJUSTMENTS} pets each.`;
}
