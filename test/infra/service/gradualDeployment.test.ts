import type { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { type OperationId, operationIds, operations } from '../../../shared/contract/operations.ts';
import { type CfnResource, changedProduction, templates } from '../../support/stackTemplates.ts';
import { changedSettings } from '../../support/stageFixtures.ts';

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
    const [errors, versionErrors, latency, serverErrors, ...others] = watched;
    expect(others).toEqual([]);
    const isStreamed = operations[id].streamed;
    expect(errors.MetricName).toBe('Errors');
    expect(latency.MetricName).toBe(isStreamed ? 'listInventoryFirstByte' : 'Duration');
    expect(serverErrors.MetricName).toBe('5XXError');
    for (const { Dimensions } of isStreamed ? [errors] : [errors, latency]) {
      expect(JSON.stringify(Dimensions)).toMatch(
        new RegExp(`"Name":"Resource","Value":.*"${id}[0-9A-F]{8}".*:live`),
      );
    }
    // Of its own calls of the version that is new: the share of the traffic makes no difference.
    const [expression, failed, calls] = versionErrors.Metrics;
    expect(expression.Expression).toBe('100 * FILL(failed, 0) / calls');
    expect(versionErrors.Threshold).toBe(5);
    const version = {
      'Fn::GetAtt': [expect.stringMatching(new RegExp(`^${id}CurrentVersion`)), 'Version'],
    };
    expect(failed.MetricStat.Metric).toEqual({
      Namespace: 'petstore-production',
      MetricName: `${id}ServerErrors`,
      Dimensions: [{ Name: 'Version', Value: version }],
    });
    expect(calls.MetricStat.Metric).toMatchObject({
      MetricName: 'Invocations',
      Dimensions: expect.arrayContaining([{ Name: 'ExecutedVersion', Value: version }]),
    });
    expect(expression.Period ?? failed.MetricStat.Period).toBe(60);
    expect(serverErrors.Dimensions).toEqual([
      { Name: 'ApiName', Value: 'petstore-production' },
      { Name: 'Stage', Value: 'v1' },
    ]);
    expect(versionErrors).toMatchObject({ EvaluationPeriods: 1, TreatMissingData: 'notBreaching' });
    expect(latency).toMatchObject({
      Period: 60,
      EvaluationPeriods: 2,
      TreatMissingData: 'notBreaching',
    });
    for (const { Period, EvaluationPeriods, TreatMissingData } of [errors, serverErrors]) {
      expect({ Period, EvaluationPeriods, TreatMissingData }).toEqual({
        Period: 60,
        EvaluationPeriods: 1,
        TreatMissingData: 'notBreaching',
      });
    }
  });

  it.each(operationIds)('counts what alarms look at from the request lines of %s', (id) => {
    const filters = toResources(templates.production, 'AWS::Logs::MetricFilter')
      .map(([, { Properties }]) => Properties)
      .filter(({ LogGroupName }) => LogGroupName.Ref.startsWith(`${id}Logs`));
    const serverErrors = {
      pattern: '{ $.message.status >= 500 }',
      MetricName: `${id}ServerErrors`,
      MetricNamespace: 'petstore-production',
      MetricValue: '1',
    };
    const firstByte = {
      pattern: '{ $.message.firstByteMilliseconds >= 0 }',
      MetricName: `${id}FirstByte`,
      MetricNamespace: 'petstore-production',
      MetricValue: '$.message.firstByteMilliseconds',
    };
    const found = filters.map(({ FilterPattern, MetricTransformations: [metric] }) => ({
      pattern: FilterPattern,
      ...metric,
    }));
    expect(found).toEqual([
      ...(operations[id].streamed ? [firstByte] : []),
      serverErrors,
      { ...serverErrors, Dimensions: [{ Key: 'Version', Value: '$.message.version' }] },
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
