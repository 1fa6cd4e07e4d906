import type { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { type OperationId, operationIds, operations } from '../../../shared/contract/operations.ts';
import {
  type CfnResource,
  changedProduction,
  changedSettings,
  templates,
} from '../../support/stackTemplates.ts';

describe('staging', () => {
  it('moves its aliases to new code at once, with nothing of CodeDeploy', () => {
    const aliases = toResources(templates.staging, 'AWS::Lambda::Alias');
    expect(aliases).toHaveLength(operationIds.length);
    for (const [, alias] of aliases) expect(alias).not.toHaveProperty('UpdatePolicy');
    templates.staging.resourceCountIs('AWS::CodeDeploy::DeploymentGroup', 0);
    templates.staging.resourceCountIs('AWS::CloudWatch::Alarm', 0);
  });
});

describe('production', () => {
  const groups = toResources(templates.production, 'AWS::CodeDeploy::DeploymentGroup');
  const alarms = Object.fromEntries(toResources(templates.production, 'AWS::CloudWatch::Alarm'));

  it('moves every alias through a deployment group of its own', () => {
    const aliases = toResources(templates.production, 'AWS::Lambda::Alias');
    const used = aliases.map(
      ([, { UpdatePolicy }]) => UpdatePolicy.CodeDeployLambdaAliasUpdate.DeploymentGroupName.Ref,
    );
    expect(used).toHaveLength(operationIds.length);
    expect(used.sort()).toEqual(groups.map(([id]) => id).sort());
  });

  it('serves a tenth of the requests from new code for five minutes before all', () => {
    for (const [, { Properties }] of groups) {
      expect(Properties.DeploymentConfigName).toBe(
        'CodeDeployDefault.LambdaCanary10Percent5Minutes',
      );
    }
  });

  it.each(operationIds)('takes new code of %s back when its alarms say so', (id) => {
    const [, group] = groups.find(([groupId]) => groupId.startsWith(`${id}Deployment`)) ?? [];
    const { AutoRollbackConfiguration, AlarmConfiguration } = group?.Properties ?? {};
    expect(AutoRollbackConfiguration).toEqual({
      Enabled: true,
      Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_REQUEST', 'DEPLOYMENT_STOP_ON_ALARM'],
    });
    expect(AlarmConfiguration.Enabled).toBe(true);
    const watched = AlarmConfiguration.Alarms.map(
      ({ Name }: { Name: { Ref: string } }) => alarms[Name.Ref]?.Properties,
    );
    const isStreamed = operations[id].streamed;
    expect(watched.map(({ MetricName }: { MetricName: string }) => MetricName)).toEqual([
      'Errors',
      isStreamed ? 'listInventoryFirstByte' : 'Duration',
      '5XXError',
    ]);
    const [errors, duration, serverErrors] = watched;
    for (const { Dimensions } of isStreamed ? [errors] : [errors, duration]) {
      expect(JSON.stringify(Dimensions)).toMatch(
        new RegExp(`"Name":"Resource","Value":.*"${id}[0-9A-F]{8}".*:live`),
      );
    }
    expect(serverErrors.Dimensions).toEqual([
      { Name: 'ApiName', Value: 'petstore-production' },
      { Name: 'Stage', Value: 'v1' },
    ]);
    for (const { Period, EvaluationPeriods, TreatMissingData } of watched) {
      expect({ Period, EvaluationPeriods, TreatMissingData }).toEqual({
        Period: 60,
        EvaluationPeriods: 1,
        TreatMissingData: 'notBreaching',
      });
    }
  });

  it('reads the time to the first byte of a streamed list from its log line', () => {
    const filters = toResources(templates.production, 'AWS::Logs::MetricFilter');
    expect(filters.map(([, { Properties }]) => Properties)).toEqual([
      expect.objectContaining({
        LogGroupName: { Ref: expect.stringMatching(/^listInventoryLogs/) },
        FilterPattern: '{ $.message.firstByteMilliseconds = "*" }',
        MetricTransformations: [
          {
            MetricName: 'listInventoryFirstByte',
            MetricNamespace: 'petstore-production',
            MetricValue: '$.message.firstByteMilliseconds',
          },
        ],
      }),
    ]);
  });

  it('can move a tenth more every minute, by its settings', () => {
    const { service } = changedProduction();
    for (const [, { Properties }] of toResources(service, 'AWS::CodeDeploy::DeploymentGroup')) {
      expect(Properties.DeploymentConfigName).toBe(
        'CodeDeployDefault.LambdaLinear10PercentEvery1Minute',
      );
    }
  });

  it('can reserve concurrency for an operation, and turn one off', () => {
    const { service } = changedProduction();
    const reservedConcurrency: Partial<Record<OperationId, number>> =
      changedSettings.reservedConcurrency;
    const reserved = toResources(service, 'AWS::Lambda::Function').map(([, { Properties }]) => [
      Properties.FunctionName,
      Properties.ReservedConcurrentExecutions,
    ]);
    expect(reserved.sort()).toEqual(
      operationIds.map((id) => [`petstore-production-${id}`, reservedConcurrency[id]]).sort(),
    );
  });
});

type Deployed = CfnResource & {
  // biome-ignore lint/suspicious/noExplicitAny: a template is read as the JSON that it is.
  readonly UpdatePolicy?: any;
};

function toResources(template: Template, type: string): [string, Deployed][] {
  return Object.entries(template.findResources(type)) as [string, Deployed][];
}
