import { describe, expect, it } from 'vitest';
import { toRegion } from '../../../infra/cli/stageOption.ts';
import { runExport } from '../../../infra/ops/data/runExport.ts';
import { runKeys } from '../../../infra/ops/keys/runKeys.ts';
import { runRestore } from '../../../infra/ops/restore/runRestore.ts';
import { runRollback } from '../../../infra/ops/rollback/runRollback.ts';
import { stages } from '../../../infra/stages/stages.ts';
import { startAws } from '../ops/aws.ts';
import { callOps } from '../ops/opsProcess.ts';

const outputs = ['ApiKeys', 'Inventory', 'Pets', 'Orders'].map((name) => ({
  OutputKey: `${name}TableName`,
  OutputValue: name,
}));

const restored = ['--table', 'pets', '--at', '2026-11-01T00:00:00Z'];

describe('the region of a command', () => {
  it('is that of the stage, of AWS_REGION or of AWS_DEFAULT_REGION, in this order', () => {
    const { staging } = stages;
    const elsewhere = { ...staging, settings: { ...staging.settings, region: 'eu-north-1' } };
    const both = { AWS_REGION: 'eu-west-1', AWS_DEFAULT_REGION: 'us-east-1' };
    expect(toRegion(elsewhere, both)).toEqual({ region: 'eu-north-1' });
    expect(toRegion(staging, both)).toEqual({ region: 'eu-west-1' });
    expect(toRegion(staging, { ...both, AWS_REGION: '' })).toEqual({ region: 'us-east-1' });
    expect(toRegion(staging, {})).toEqual({});
  });

  it.each([
    ['keys', runKeys, ['list'], ['cloudformation', 'dynamodb']],
    ['export', runExport, ['--pets', 'pets.jsonl'], ['cloudformation', 'dynamodb']],
    ['rollback', runRollback, [], ['cloudformation', 'codedeploy', 'lambda']],
    ['restore', runRestore, restored, ['cloudformation', 'dynamodb']],
  ])('is the default region for npm run %s', async (_, command, args, services) => {
    const aws = await startAws({
      DescribeStacks: () => ({ Stacks: [{ StackStatus: 'CREATE_COMPLETE', Outputs: outputs }] }),
      ListStackResources: () => ({
        StackResourceSummaries: [
          { ResourceType: 'AWS::CodeDeploy::DeploymentGroup', PhysicalResourceId: 'x' },
        ],
      }),
      ListDeployments: () => ({}),
    });
    const { AWS_REGION, ...variables } = aws.variables;
    await callOps((words) => command(words), [...args, '--stage', 'staging'], {
      ...variables,
      AWS_DEFAULT_REGION: 'ap-south-1',
    });
    aws.close();
    const regions = Map.groupBy(aws.calls, ({ region }) => region);
    expect([...regions.keys()]).toEqual(['ap-south-1']);
    expect(new Set(aws.calls.map(({ service }) => service))).toEqual(new Set(services));
  });
});
