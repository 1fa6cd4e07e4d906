import {
  apiVersion,
  type Lifecycle,
  type Operation,
  toLifecycleHeaders,
} from '../../../shared/contract/operation.ts';
import { operations } from '../../../shared/contract/operations.ts';
import { toTable } from '../markdown/table.ts';
import type { Placeholders } from '../placeholders.ts';

const rows = Object.values<Operation>(operations);

/**
 * What the contract says of operations and their values.
 * @param documentationAddress where the site lies, without a slash at the end
 */
export function toOperationFacts(documentationAddress: string): Placeholders {
  return {
    apiVersion: () => apiVersion,
    operations: toOperationTable,
    lifecycleHeaders: (id) => {
      const headers = toLifecycleHeaders(toDeprecation(id), documentationAddress);
      return Object.entries(headers)
        .map(([name, value]) => `${name}: ${value}`)
        .join('\n');
    },
    lifecycleHeader: (argument) => {
      const [id = '', name = ''] = argument.split('.');
      return toLifecycleHeaders(toDeprecation(id), documentationAddress)[name];
    },
    deprecations: toDeprecationTable,
    deprecation: toDeprecationSentence,
  };
}

function toOperationTable(): string {
  return toTable(
    ['operation', '', 'takes a key to', 'level'],
    rows.map(({ operationId, method, path, permission, lifecycle }) => [
      `[\`${operationId}\`](reference.html)`,
      `\`${method} ${path}\``,
      permission,
      lifecycle.kind === 'deprecated'
        ? `[deprecated](deprecations.html#${operationId})`
        : lifecycle.kind,
    ]),
  );
}

function toDeprecation(operationId: string): Extract<Lifecycle, { kind: 'deprecated' }> {
  const lifecycle = rows.find((row) => row.operationId === operationId)?.lifecycle;
  if (lifecycle?.kind !== 'deprecated') throw new Error(`${operationId} is not deprecated.`);
  return lifecycle;
}

function toDeprecationTable(): string {
  const deprecated = rows.filter(({ lifecycle }) => lifecycle.kind === 'deprecated');
  return toTable(
    ['operation', 'deprecated since', 'sunset'],
    deprecated.map(({ operationId }) => {
      const { since, sunset } = toDeprecation(operationId);
      return [`[\`${operationId}\`](#${operationId})`, toDay(since), toDay(sunset)];
    }),
  );
}

function toDeprecationSentence(operationId: string): string {
  const { since, sunset } = toDeprecation(operationId);
  return `Deprecated since **${toDay(since)}**; answered at least until **${toDay(sunset)}** (00:00 UTC).`;
}

function toDay(instant: Date): string {
  return instant.toISOString().slice(0, 10);
}
