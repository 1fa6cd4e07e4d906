import { expect, it } from 'vitest';
import { defineOpenApiDocument } from '../../../infra/openapi/openApiDocument.ts';
import { operationIds, operations } from '../../../shared/contract/operations.ts';

const document = defineOpenApiDocument();

it('the committed document is what the contract says: run "npm run openapi" where it is not', async () => {
  const text = `${JSON.stringify(document, null, 2)}\n`;
  await expect(text).toMatchFileSnapshot('../../../shared/contract/openapi.json');
});

it.each(operationIds)('shows an example of every answer of %s that is JSON', (id) => {
  const { path, method } = operations[id];
  const { responses = {} } = document.paths[path]?.[method.toLowerCase()] ?? {};
  expect(Object.keys(responses)).toEqual(expect.arrayContaining(['200', '429', '500', '503']));
  for (const [status, { content }] of Object.entries(responses)) {
    const json = content?.['application/json'];
    if (!json) expect(['304', '413']).toContain(status);
    else expect(Object.keys(json.examples ?? {}), status).not.toEqual([]);
  }
});
