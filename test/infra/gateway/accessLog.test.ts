import { expect, it } from 'vitest';
import { stageNames } from '../../../infra/stages/stages.ts';
import { findResources } from '../../support/stackTemplates.ts';

it.each(stageNames)('%s logs what a request is found by, and no header', (stage) => {
  const [gateway] = Object.values(findResources(stage, 'AWS::ApiGateway::Stage'));
  const format = JSON.parse(gateway?.Properties.AccessLogSetting.Format) as Record<string, string>;
  expect(format).toMatchObject({
    requestId: '$context.requestId',
    functionRequestId: '$context.integration.requestId',
    gatewayError: '$context.error.responseType',
  });
  expect(JSON.stringify(format)).not.toMatch(/header|authorization/i);
});
