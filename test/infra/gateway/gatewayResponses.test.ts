import { ResponseType } from 'aws-cdk-lib/aws-apigateway';
import { describe, expect, it } from 'vitest';
import { gatewayErrors } from '../../../infra/gateway/gatewayErrors.ts';
import { stageNames } from '../../../infra/stages/stages.ts';
import { statusOfCode } from '../../../shared/contract/errorBody.ts';
import { ErrorBody } from '../../../shared/contract/schemas.ts';
import { type CfnResource, findResources } from '../../support/stackTemplates.ts';

describe.each(stageNames)("the gateway's own errors in %s", (stage) => {
  const responses = Object.values(findResources(stage, 'AWS::ApiGateway::GatewayResponse'));
  const findResponse = (type: string) =>
    responses.find(({ Properties }) => Properties.ResponseType === type);

  it('cover every response type of the gateway', () => {
    const types = Object.values(ResponseType)
      .filter((value) => value instanceof ResponseType)
      .map(({ responseType }) => responseType);
    expect(types.length).toBeGreaterThan(20);
    expect(responses.map(({ Properties }) => Properties.ResponseType).sort()).toEqual(types.sort());
  });

  it.each(Object.keys(gatewayErrors))('%s carries the Error body and the headers', (type) => {
    const { Properties } = findResponse(type) as CfnResource;
    const body = ErrorBody.parse(JSON.parse(Properties.ResponseTemplates['application/json']));
    expect(String(body.status)).toBe(Properties.StatusCode);
    expect(body.status).toBe(statusOfCode[body.code]);
    expect(Properties.ResponseParameters).toMatchObject({
      'gatewayresponse.header.X-Request-Id': 'context.requestId',
      'gatewayresponse.header.Access-Control-Allow-Origin':
        stage === 'staging' ? "'*'" : "'https://www.petstore.example'",
      'gatewayresponse.header.Access-Control-Expose-Headers':
        expect.stringContaining('X-Request-Id'),
    });
  });

  it('say when to come back on every 429 and 503', () => {
    const waiting = responses.filter(({ Properties }) =>
      ['429', '503'].includes(Properties.StatusCode),
    );
    expect(waiting.length).toBeGreaterThanOrEqual(4);
    for (const { Properties } of waiting) {
      expect(Properties.ResponseParameters['gatewayresponse.header.Retry-After']).toMatch(
        /^'\d+'$/,
      );
    }
  });

  it.each([
    ['MISSING_AUTHENTICATION_TOKEN', '404'],
    ['INVALID_SIGNATURE', '404'],
    ['THROTTLED', '429'],
    ['REQUEST_TOO_LARGE', '413'],
    ['UNSUPPORTED_MEDIA_TYPE', '415'],
    ['INTEGRATION_FAILURE', '503'],
    ['INTEGRATION_TIMEOUT', '503'],
    ['DEFAULT_5XX', '500'],
  ])('answer %s with %s', (type, status) => {
    expect(findResponse(type)?.Properties.StatusCode).toBe(status);
  });
});
