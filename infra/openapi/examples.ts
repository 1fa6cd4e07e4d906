import type { OperationId } from '../../shared/contract/operations.ts';
import recorded from './examples.json' with { type: 'json' };
import type { Example } from './openApi.ts';
import type { ExamplesByStatus } from './responses.ts';

/** A request that a conformance run sent, and what was answered; `examples.json` has them by operation. */
export interface RecordedExample {
  readonly name: string;
  readonly summary: string;
  /** The body that was sent. */
  readonly request?: unknown;
  readonly status: number;
  /** The body that was answered. */
  readonly response: unknown;
}

/** An operation's examples: what to send, and what then comes, by status. */
export function toExamples(id: OperationId): {
  requests: Readonly<Record<string, Example>>;
  responses: ExamplesByStatus;
} {
  const examples: readonly RecordedExample[] = recorded[id];
  const byStatus = Object.groupBy(examples, ({ status }) => status);
  return {
    requests: toNamed(
      (byStatus[200] ?? []).filter(({ request }) => request !== undefined),
      ({ request }) => request,
    ),
    responses: Object.fromEntries(
      Object.entries(byStatus).map(([status, group = []]) => [
        status,
        toNamed(group, ({ response }) => response),
      ]),
    ),
  };
}

function toNamed(
  examples: readonly RecordedExample[],
  toValue: (example: RecordedExample) => unknown,
): Record<string, Example> {
  return Object.fromEntries(
    examples.map((example) => [
      example.name,
      { summary: example.summary, value: toValue(example) },
    ]),
  );
}
