import { expect, it } from 'vitest';
import { watchTemplates } from '../../../support/stackTemplates.ts';
import { fixtures } from '../../../support/stageFixtures.ts';

const { production, staging } = watchTemplates;

it('calls production every five minutes, with what it needs and may do', () => {
  production.hasResourceProperties('AWS::Events::Rule', { ScheduleExpression: 'rate(5 minutes)' });
  const [check, ...others] = Object.values(production.findResources('AWS::Lambda::Function'));
  expect(others).toEqual([]);
  expect(check?.Properties).toMatchObject({
    FunctionName: 'petstore-production-check',
    Runtime: 'nodejs24.x',
    LoggingConfig: { LogFormat: 'Text' },
    Environment: {
      Variables: {
        BASE_ADDRESS: fixtures.production.settings.baseAddress,
        KEY_PARAMETER: '/petstore-production/check-key',
        API_KEYS_TABLE: 'petstore-production-apiKeys',
        NAMESPACE: 'petstore-production',
      },
    },
  });
  const [policy] = Object.values(production.findResources('AWS::IAM::Policy'));
  const statements = policy?.Properties.PolicyDocument.Statement;
  expect(statements.map(({ Action }: { Action: unknown }) => Action)).toEqual([
    ['logs:CreateLogStream', 'logs:PutLogEvents'],
    'ssm:GetParameter',
    'dynamodb:Scan',
  ]);
  expect(JSON.stringify(statements[1].Resource)).toContain(
    ':parameter/petstore-production/check-key',
  );
  expect(JSON.stringify(statements[2].Resource)).toContain(':table/petstore-production-apiKeys');
});

it('leaves staging alone', () => {
  staging.resourceCountIs('AWS::Lambda::Function', 0);
  staging.resourceCountIs('AWS::Events::Rule', 0);
});
