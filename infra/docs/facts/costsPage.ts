import { type OperationCost, toCostReport, toSafeSaleText } from '../../costs/bills/costReport.ts';
import { readCommittedTraffic, sumRequests } from '../../costs/bills/traffic.ts';
import { componentLabels, components } from '../../costs/prices.ts';
import { stagesForClients } from '../../stages/stages.ts';
import { type Placeholders, toTable } from '../guide.ts';

/** As in the example shop. */
const POLL_SECONDS = 5;
/** In millions, for 30 days. */
const MILLION_POLLS = (30 * 24 * 60 * 60) / POLL_SECONDS / 1_000_000;

/** Production's costs at the committed traffic, for the guides. */
export function toCostFacts(): Placeholders {
  const traffic = readCommittedTraffic();
  const requests = sumRequests(traffic).toLocaleString('en-US');
  const entries = traffic.entries.toLocaleString('en-US');
  const report = toCostReport(stagesForClients[0], traffic, traffic.entries);
  const { operations, month, region, pricesAsOf } = report;
  // Successful requests, and refused keys.
  const served = operations.filter(({ response }) => /^(200|304|401)/.test(response));
  function toDollars(name: string, millions: number): string | undefined {
    const cost = operations.find((one) => `${one.operationId}.${one.response}` === name);
    return cost && (cost.dollarsPerMillion * millions).toFixed(2);
  }
  return {
    costEntries: () => entries,
    dollars: (name) => toDollars(name, 1),
    pollSeconds: () => `${POLL_SECONDS}`,
    pollingDollars: (name) => toDollars(name, MILLION_POLLS),
    requestCosts: () => toOperationTable(served),
    safeSale: () => toSafeSaleText(report),
    monthCosts: () =>
      `Production's month with the ${requests} requests of \`infra/costs/traffic.json\` and ${entries} entries costs **$${month.total.toFixed(2)}** (${region}, prices of ${pricesAsOf}): $${month.requests.toFixed(2)} for requests and $${month.fixed.toFixed(2)} fixed.`,
  };
}

/** Dollars per million requests, by operation, response and component. */
function toOperationTable(costs: readonly OperationCost[]): string {
  const used = components.filter((one) => costs.some((cost) => cost.components[one] > 0));
  return toTable(
    ['operation', 'response', 'total', ...used.map((one) => componentLabels[one])],
    costs.map(({ operationId, response, dollarsPerMillion, components: dollars }) => [
      operationId,
      response,
      `**${dollarsPerMillion.toFixed(2)}**`,
      // Costs of zero stay blank.
      ...used.map((one) => (dollars[one] === 0 ? '' : dollars[one].toFixed(2))),
    ]),
  );
}
