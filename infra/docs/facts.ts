import { readFileSync } from 'node:fs';
import packageJson from '../../package.json' with { type: 'json' };
import { type ErrorCode, retryAfter, statusOfCode } from '../../shared/contract/errorBody.ts';
import * as headers from '../../shared/contract/headers.ts';
import { apiVersion, type Operation, toLifecycleHeaders } from '../../shared/contract/operation.ts';
import { MAX_IDS } from '../../shared/contract/operations/listInventory.ts';
import {
  type OperationId,
  operationIds,
  operations,
  operationTexts,
} from '../../shared/contract/operations.ts';
import * as pageQuery from '../../shared/contract/pageQuery.ts';
import * as values from '../../shared/contract/values.ts';
import * as gateway from '../gateway/gatewayErrors.ts';
import { listRateRules, type RateRule } from '../gateway/rateRules.ts';
import { operationSettings, stagesForClients } from '../stages/stages.ts';
import {
  readClientChangelog,
  readClientReadme,
  readClientTypes,
  tarballName,
} from './client/buildClient.ts';
import { type Placeholders, renderTable } from './guide.ts';
import { readCommittedDocument } from './openapi/openApiDocument.ts';
import { type Access, type Server, toContactLink } from './page.ts';
import { toOperationAnchor } from './reference.ts';

export async function readFacts(access: Access): Promise<Placeholders> {
  return {
    ...collectStageFacts(access),
    ...collectOperationFacts(access.documentationAddress),
    ...limits,
    ...(await readClientFacts(access)),
    source: (name) => readFileSync(new URL(`guides/${name}`, import.meta.url), 'utf8').trimEnd(),
  };
}

function collectStageFacts({ servers, apiKey, contact, statusPage }: Access): Placeholders {
  const operators = 'the operators of the service';
  const renderAddress = ({ name, baseUrl, purpose }: Server) =>
    `- **${name}**: \`${baseUrl}\`, ${purpose}`;
  return {
    addresses: () => servers.map(renderAddress).join('\n'),
    baseAddress: () => servers[0].baseUrl,
    apiKey: () => apiKey ?? 'psk_…',
    operators: () =>
      contact === undefined ? operators : `[${operators}](${toContactLink(contact)})`,
    statusPage: () =>
      statusPage === undefined
        ? 'There is no status page.'
        : `The [status page](${statusPage}) announces outages and maintenance.`,
    throttles: renderThrottleTable,
    shares: renderShareTable,
    timeout: (operationId) => `${operationSettings[operationId as OperationId].timeoutSeconds}`,
  };
}

function renderThrottleTable(): string {
  const head = [
    'operation',
    ...stagesForClients.flatMap(({ name }) => [`${name}: per second`, 'burst']),
  ];
  const lines = ([...operationIds, 'other'] as const).map((id) => [
    id === 'other' ? 'all else' : linkToReference(id),
    ...stagesForClients.flatMap(({ settings }) => {
      const { rate, burst } = settings.throttles[id];
      return [rate, burst];
    }),
  ]);
  return renderTable(head, lines);
}

const shareLabels: readonly (readonly [rule: RateRule['name'], label: string])[] = [
  ['lists-of-key', '`listInventory`, with one API key'],
  ['lists-of-address', '`listInventory`, from one IP address'],
  ...operationIds.map((id) => [`${id}-of-address`, `\`${id}\`, from one IP address`] as const),
  ['keyless', 'requests without a well-formed API key (preflights aside), from one IP address'],
  ['flood', 'all requests, from one IP address'],
];

function renderShareTable(): string {
  const lines = shareLabels.flatMap(([rule, label]) => {
    const limits = stagesForClients.map(
      ({ settings }) => listRateRules(settings).find(({ name }) => name === rule)?.limit,
    );
    // Few operations have a rule of their own.
    if (rule.endsWith('-of-address') && !limits.some(Boolean)) return [];
    return [[label, ...limits.map((limit) => toLimit(limit) ?? 'no limit')]];
  });
  return renderTable(
    ['requests', ...stagesForClients.map(({ name }) => `${name}: per minute`)],
    lines,
  );
}

const rows = Object.values<Operation>(operations);

function linkToReference(id: string): string {
  const known = id as OperationId;
  const { method, path } = operations[known];
  return `[\`${id}\`](reference.html#${toOperationAnchor(operationTexts[known].tag, method, path)})`;
}

function collectOperationFacts(documentationAddress: string): Placeholders {
  return {
    apiVersion: () => apiVersion,
    documentVersion: () => readCommittedDocument().info.version,
    version: () => packageJson.version,
    operation: (id) => (Object.hasOwn(operations, id) ? linkToReference(id) : undefined),
    operations: renderOperationTable,
    deprecatedOperations: listDeprecatedOperations,
    deprecations: () => renderDeprecations(documentationAddress),
    errors: renderErrorTable,
    retryAfter: (reason) => retryAfter[reason as keyof typeof retryAfter],
  };
}

function renderOperationTable(): string {
  return renderTable(
    ['operation', 'request', 'permission', 'level'],
    rows.map(({ operationId, method, path, permission, lifecycle }) => [
      linkToReference(operationId),
      `\`${method} ${path}\``,
      permission,
      lifecycle.kind === 'deprecated'
        ? `[deprecated](deprecations.html#${operationId})`
        : lifecycle.kind,
    ]),
  );
}

function listDeprecatedOperations(): string {
  const ids = rows
    .filter(({ lifecycle }) => lifecycle.kind === 'deprecated')
    .map(({ operationId }) => `[\`${operationId}\`](#${operationId})`);
  return ids.length > 0 ? `Deprecated: ${ids.join(', ')}.` : 'No operation is deprecated.';
}

function renderDeprecations(documentationAddress: string): string {
  const sections = rows.flatMap(({ operationId, lifecycle }) => {
    if (lifecycle.kind !== 'deprecated') return [];
    const headers = Object.entries(toLifecycleHeaders(lifecycle, documentationAddress));
    const { replacement } = operationTexts[operationId as OperationId];
    return [
      `## \`${operationId}\``,
      `Deprecated from **${toDay(lifecycle.since)}**; available at least until **${toDay(lifecycle.sunset)}** (00:00 UTC).`,
      ['```http', ...headers.map(([name, value]) => `${name}: ${value}`), '```'].join('\n'),
      ...(replacement === undefined ? [] : [replacement]),
    ];
  });
  return sections.join('\n\n');
}

function toDay(instant: Date): string {
  return instant.toISOString().slice(0, 10);
}

/** What sends a code, or a response without it, beside the operations. */
const otherSenders: Readonly<Partial<Record<ErrorCode, string>>> = {
  forbidden: '[the firewall](#forbidden), at any path',
  payload_too_large: '[AWS, without this code](#payload_too_large)',
};

function renderErrorTable(): string {
  const lines = Object.entries(statusOfCode).map(([code, status]) => {
    const from = rows.filter(({ errors }) => errors.some((one) => one === code));
    const names = from.map(({ operationId }) => linkToReference(operationId)).join(', ');
    const all = from.length === rows.length ? 'every operation' : names;
    const other = otherSenders[code as ErrorCode];
    const senders = [all === '' ? 'any path' : all, ...(other ? [other] : [])];
    return [status, `[\`${code}\`](#${code})`, senders.join('; ')];
  });
  return renderTable(['status', 'code', 'from'], lines);
}

const constants: Readonly<Record<string, unknown>> = {
  ...gateway,
  ...headers,
  ...pageQuery,
  ...values,
  MAX_IDS,
};

/** The limits that the service sets for its clients, by the names of their constants. */
const limits: Placeholders = {
  limit: (name) => toLimit(constants[name]),
  megabytes: (name) => toLimit(Number(constants[name]) / 1024 / 1024),
};

function toLimit(number: unknown): string | undefined {
  return Number.isInteger(number) ? Number(number).toLocaleString('en') : undefined;
}

async function readClientFacts(access: Access): Promise<Placeholders> {
  const { documentationAddress, servers, apiKey } = access;
  const [readme, types, changelog] = await Promise.all([
    readClientReadme(documentationAddress, servers[0].baseUrl),
    readClientTypes(),
    readClientChangelog(),
  ]);
  const text = readme.replace(/^# .*\n+/, '').replaceAll('psk_…', apiKey ?? '$&');
  return {
    clientAddress: () => `${documentationAddress}/${tarballName}`,
    clientReadme: () => text.trimEnd(),
    clientTypes: () => types.trimEnd(),
    clientChangelog: () => changelog.trimEnd(),
  };
}
