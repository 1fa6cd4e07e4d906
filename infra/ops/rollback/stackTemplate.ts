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

interface Reference {
  readonly Ref?: string;
  readonly 'Fn::GetAtt'?: readonly [logicalId: string, attribute: string];
}

/** A function's alias in a template. */
export interface TemplateAlias {
  readonly operationId: OperationId;
  readonly resource: Resource;
  /** The number of the version that it names, or the logical id of its resource. */
  readonly version: string;
}

/** The last template of a stage's stack, as it was deployed. */
export async function readTemplate(
  client: CloudFormationClient,
  StackName: string,
): Promise<Template> {
  const command = new GetTemplateCommand({ StackName, TemplateStage: 'Original' });
  return JSON.parse((await client.send(command)).TemplateBody ?? '{}');
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
  const { Ref, 'Fn::GetAtt': attribute } = Object(value) as Reference;
  return Ref ?? attribute?.[0] ?? String(value);
}

/**
 * The numbers of the versions that a stack's aliases name. CloudFormation takes these for the live ones.
 * @param aliases of the stack's last template
 */
export async function readNamedVersions(
  client: CloudFormationClient,
  StackName: string,
  aliases: readonly TemplateAlias[],
): Promise<ReadonlyMap<OperationId, number>> {
  const physicalIds = new Map<string, string>();
  for await (const { StackResourceSummaries = [] } of paginateListStackResources(
    { client },
    { StackName },
  )) {
    for (const { LogicalResourceId = '', PhysicalResourceId = '' } of StackResourceSummaries) {
      physicalIds.set(LogicalResourceId, PhysicalResourceId);
    }
  }
  // A version's physical id is its ARN, which ends in its number.
  return new Map(
    aliases.map(({ operationId, version }) => [
      operationId,
      Number((physicalIds.get(version) ?? version).split(':').at(-1)),
    ]),
  );
}
