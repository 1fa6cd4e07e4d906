import { expect, it } from 'vitest';
import { fillAccessLog } from '../../support/stackTemplates.ts';
import { fixtureNames } from '../../support/stageFixtures.ts';

it.each(fixtureNames)('%s logs what a request is found by, and no header', (stage) => {
  const line = fillAccessLog(stage);
  expect(line).toMatchObject({
    requestId: '$context.requestId',
    functionRequestId: '$context.integration.requestId',
    gatewayError: '$context.error.responseType',
  });
  expect(JSON.stringify(line)).not.toMatch(/header|authorization/i);
});

it.each(fixtureNames)(
  '%s logs the bytes as a number, which a metric sums up, and else texts',
  (stage) => {
    const { bytes, ...others } = fillAccessLog(stage);
    expect(bytes).toBe(0);
    for (const value of Object.values(others)) expect(value).toMatch(/^\$context\./);
  },
);
