import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RecordedExample } from '../../../infra/docs/openapi/openApi.ts';
import {
  defineOpenApiDocument,
  type OpenApiDocument,
} from '../../../infra/docs/openapi/openApiDocument.ts';
import { readStoreData } from '../../../infra/local/storeData.ts';
import type { ErrorCode } from '../../../shared/contract/errorBody.ts';
import { type OperationId, operationIds, operations } from '../../../shared/contract/operations.ts';
import { startTestGateway } from '../../infra/local/testGateway.ts';
import type { ExactResponse } from '../../support/exactFetch.ts';
import { useNoBackOff } from '../../support/faults/clock.ts';
import type { Fault } from '../../support/faults/faults.ts';
import { expectError, expectSuccess } from '../expectations.ts';
import { type FaultyTarget, openFaultyStage } from '../localTarget.ts';
import type { ExampleRequest } from '../operations/operationSuite.ts';
import { suites, toSending } from '../operations/suites.ts';
import { send } from '../target.ts';

const sample = new URL('../../../infra/local/sample.json', import.meta.url);

/** Faults that make any operation fail. */
const faults: readonly [name: string, summary: string, fault: Fault, code: ErrorCode][] = [
  ['broken', 'Something is broken', 'accessDenied', 'internal_error'],
  ['busy', 'The database is busy', 'throttled', 'service_unavailable'],
];

/**
 * `npm run openapi` runs this with `--update`, which writes the document. Nothing here reads the committed document,
 * so any content there will do.
 */
describe('the document', () => {
  let target: FaultyTarget;
  let document: OpenApiDocument;
  useNoBackOff();
  beforeAll(async () => {
    target = await openFaultyStage(await readStoreData(sample));
    delete target.onResponse;
    const examples: Partial<Record<OperationId, RecordedExample[]>> = {};
    for (const id of operationIds) examples[id] = await record(id);
    document = defineOpenApiDocument(examples as Record<OperationId, RecordedExample[]>);
  });
  afterAll(() => target?.close());

  test('matches the contract and the responses of the local stage: else run "npm run openapi"', async () => {
    const text = `${JSON.stringify(document, null, 2)}\n`;
    await expect(text).toMatchFileSnapshot('../../../shared/contract/openapi.json');
  });

  test.each(operationIds)('shows an example of every JSON response of %s', (id) => {
    const { path, method } = operations[id];
    const { responses = {} } = document.paths[path]?.[method.toLowerCase()] ?? {};
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['200', '429', '500', '503']));
    for (const [status, { content }] of Object.entries(responses)) {
      const json = content?.['application/json'];
      if (!json) expect(status).toBe('304');
      else expect(Object.keys(json.examples ?? {}), status).not.toEqual([]);
    }
  });

  test('gives every integer a format that holds its bounds', () => {
    let count = 0;
    JSON.stringify(document, (_, part) => {
      if (part?.type !== 'integer') return part;
      count += 1;
      if (part.format !== 'int64') {
        expect(part).toMatchObject({ format: 'int32', minimum: expect.any(Number) });
        expect(part.maximum).toBeLessThan(2 ** 31);
      }
      return part;
    });
    expect(count).toBeGreaterThan(10);
    expect(document.components.schemas.Error).toMatchObject({
      properties: { status: { minimum: 400, maximum: 599 } },
    });
  });

  async function record(id: OperationId): Promise<RecordedExample[]> {
    const requests = Object.entries(suites[id].examples);
    const examples: RecordedExample[] = [];
    for (const [name, example] of requests) {
      const { summary, headers = {}, body, code } = example;
      const response = await ask(target.baseUrl, id, example);
      const request = code === undefined ? body : undefined;
      examples.push({ ...toRecorded(name, summary, response, request), headers });
    }
    const [[, valid] = ['', undefined]] = requests;
    if (!valid) throw new Error(`${id} has no example.`);
    const limit = { failures: [{ status: 429, share: 1 }] };
    const limited = await startTestGateway({}, undefined, limit);
    const code = 'too_many_requests';
    const response = await ask(limited.baseUrl, id, { ...valid, code });
    examples.push(toRecorded('tooMany', 'Too many requests at once', response));
    await limited.drain();
    for (const [name, summary, fault, code] of faults) {
      // The key has just been verified, and is not looked up again.
      target.store.fail({ fault });
      const response = await ask(target.baseUrl, id, { ...valid, code });
      examples.push(toRecorded(name, summary, response));
      target.store.heal();
    }
    return examples;
  }

  async function ask(baseUrl: string, id: OperationId, example: ExampleRequest) {
    const sending = toSending(target, example);
    const { method } = operations[id];
    const response = await send({ ...target, baseUrl }, method, example.path, sending);
    if (example.code) expectError(response, example.code, id);
    else expectSuccess(response, id);
    return response;
  }
});

function toRecorded(
  name: string,
  summary: string,
  { status, text }: ExactResponse,
  request?: unknown,
): RecordedExample {
  // Tools parse numbers as doubles, so an example must have no id that they would round.
  const response = JSON.parse(text, (_, value) => {
    if (typeof value === 'number') expect(value).toSatisfy(Number.isSafeInteger);
    return value;
  });
  return { name, summary, ...(request !== undefined && { request }), status, response };
}
