import {
  type CloudFormationClient,
  GetTemplateCommand,
  paginateListStackResources,
} from '@aws-sdk/client-cloudformation';
import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import { toNames } from '../../stages/resourceNames.ts';
import type { Stage } from '../../stages/stages.ts';

/** A CloudFormation template, with the parts that aliases need. */
export interface Template {
  readonly Resources: Record<string, Resource>;
}

interface Resource {
  readonly Type: string;
  readonly Properties?: Record<string, unknown>;
  UpdatePolicy?: unknown;
}

interface TemplateAlias {
  readonly operationId: OperationId;
  readonly resource: Resource;
  /** The number of the version that it names, or the logical id of its resource. */
  readonly version: string;
}

export function findAliases(stage: Stage, { Resources }: Template): TemplateAlias[] {
  const names = new Map(operationIds.map((id) => [toNames(stage).toFunction(id), id]));
  return Object.values(Resources).flatMap((resource) => {
    if (resource.Type !== 'AWS::Lambda::Alias') return [];
    const { FunctionName, FunctionVersion } = resource.Properties as Record<string, unknown>;
    const fn = Resources[toLogicalId(FunctionName)];
    const operationId = names.get(String(fn?.Properties?.FunctionName));
    return operationId ? [{ operationId, resource, version: toLogicalId(FunctionVersion) }] : [];
  });
}

/** The logical id that a value refers to, or the value itself. */
function toLogicalId(value: unknown): string {
  const { Ref, 'Fn::GetAtt': [logicalId] = [] } = Object(value);
  return Ref ?? logicalId ?? String(value);
}

/**
 * The last template of a stage's stack, as it was deployed. Each alias has the number of the version that it names,
 * which CloudFormation takes for the live one.
 */
export async function readStackAliases(
  client: CloudFormationClient,
  stage: Stage,
  StackName: string,
) {
  const command = new GetTemplateCommand({ StackName, TemplateStage: 'Original' });
  const template: Template = JSON.parse((await client.send(command)).TemplateBody ?? '{}');
  const pages = await Array.fromAsync(paginateListStackResources({ client }, { StackName }));
  const resources = pages.flatMap(({ StackResourceSummaries = [] }) => StackResourceSummaries);
  const physicalIds = new Map(
    resources.map((one) => [one.LogicalResourceId, one.PhysicalResourceId]),
  );
  const aliases = findAliases(stage, template).map((alias) => {
    // A version's physical id is its ARN, which ends in its number.
    const named = physicalIds.get(alias.version) ?? alias.version;
    return { ...alias, number: Number(named.split(':').at(-1)) };
  });
  return { template, aliases };
}
