import { Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { RestApi } from 'aws-cdk-lib/aws-apigateway';
import { expect, it } from 'vitest';
import { addErrorAnswer, addPreflightAnswer } from '../../../infra/service/routes.ts';
import { gatewayErrors } from '../../../infra/gateway/gatewayErrors.ts';

const origins = ['https://a.example', 'https://b.example'] as const;
const allowOrigin = 'method.response.header.Access-Control-Allow-Origin';

it('names the origin of a preflight only where that is one of several allowed', () => {
  const { ResponseParameters, ResponseTemplates } = toAnswer('OPTIONS');
  expect(ResponseParameters).not.toHaveProperty([allowOrigin]);
  expect(ResponseParameters['method.response.header.Vary']).toBe("'Origin'");
  expect(ResponseTemplates['application/json']).toContain(
    '#if($origin == "https://a.example" || $origin == "https://b.example")' +
      '#set($context.responseOverride.header.Access-Control-Allow-Origin = $origin)#end',
  );
});

it('lets any origin read an error where several are allowed', () => {
  expect(toAnswer('ANY').ResponseParameters[allowOrigin]).toBe("'*'");
});

it('declares every header that it sends, as the gateway demands', () => {
  const { ANY, OPTIONS } = toMethods();
  for (const { Integration, MethodResponses } of [ANY, OPTIONS]) {
    expect(Object.keys(MethodResponses[0].ResponseParameters)).toEqual(
      expect.arrayContaining(Object.keys(Integration.IntegrationResponses[0].ResponseParameters)),
    );
  }
});

function toAnswer(method: 'ANY' | 'OPTIONS') {
  return toMethods()[method].Integration.IntegrationResponses[0];
}

// biome-ignore lint/suspicious/noExplicitAny: a template is read as the JSON that it is.
function toMethods(): any {
  const api = new RestApi(new Stack(), 'Api');
  addPreflightAnswer(api.root, ['GET'], origins);
  addErrorAnswer(api.root, gatewayErrors.RESOURCE_NOT_FOUND, origins);
  const methods = Template.fromStack(Stack.of(api)).findResources('AWS::ApiGateway::Method');
  return Object.fromEntries(
    Object.values(methods).map(({ Properties }) => [Properties.HttpMethod, Properties]),
  );
}
