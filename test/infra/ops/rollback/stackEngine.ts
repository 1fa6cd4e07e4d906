import { createHash } from 'node:crypto';
import type { Release } from '../../../../infra/stages/commit.ts';
import {
  mapOperations,
  type OperationId,
  operationIds,
} from '../../../../shared/contract/operations.ts';
import { AwsError, describeReleases, describeStack, type Responses, useAws } from '../aws.ts';

interface Alias {
  FunctionVersion: string;
  RevisionId: string;
  RoutingConfig: { AdditionalVersionWeights: Record<string, number> };
}

interface Version {
  Version: string;
  Description: string;
  CodeSha256: string;
  LastModified: string;
}

/** A commit with its code, by default its own, and functions with other code. One with the code '' does not exist. */
export type Deployment = readonly [
  commit: string,
  code?: string,
  others?: Partial<Record<OperationId, string>>,
];
export type Production = Awaited<ReturnType<typeof startProduction>>;

interface Template {
  // biome-ignore lint/suspicious/noExplicitAny: a template is read as JSON.
  Resources: Record<string, any>;
}

/** A template as it was deployed, and the ARNs of its versions by logical id. */
interface Stack {
  readonly template: Template;
  readonly versions: Readonly<Record<string, string>>;
}

const name = 'petstore-production';
// biome-ignore lint/suspicious/noTemplateCurlyInString: CloudFormation's own placeholders.
export const codeBucket = { 'Fn::Sub': 'cdk-hnb659fds-assets-${AWS::AccountId}-${AWS::Region}' };

/** The digest of a function with such code. */
export function toDigest(id: OperationId, code: string): string {
  return createHash('sha256').update(`${id} ${code}`).digest('hex').slice(0, 16);
}

/** What a rollback reads of the template of such code; `serviceStack.test.ts` holds it against the synthesized one. */
export function toTemplate([commit, code = commit, others = {}]: Deployment): Template {
  const ids = operationIds.filter((id) => others[id] !== '');
  const digests = Object.fromEntries(ids.map((id) => [id, toDigest(id, others[id] ?? code)]));
  const ofFunctions = ids.map((id) => {
    const FunctionName = { Ref: id };
    const Code = { S3Bucket: codeBucket, S3Key: others[id] ?? code };
    const version = `${id}Version${digests[id]}`;
    const FunctionVersion = { 'Fn::GetAtt': [version, 'Version'] };
    return {
      [id]: {
        Type: 'AWS::Lambda::Function',
        Properties: { FunctionName: `${name}-${id}`, Code },
      },
      [version]: {
        Type: 'AWS::Lambda::Version',
        Properties: { FunctionName, Description: digests[id] },
      },
      [`${id}Live`]: {
        Type: 'AWS::Lambda::Alias',
        Properties: { FunctionName, FunctionVersion, Name: 'live' },
        UpdatePolicy: { CodeDeployLambdaAliasUpdate: {} },
      },
    };
  });
  const Value = JSON.stringify({ commit, digests });
  const Release = { Type: 'AWS::SSM::Parameter', Properties: { Value } };
  return { Resources: Object.assign({ Release }, ...ofFunctions) };
}

/** The number of the version that an alias names in a stack; `undefined` if there is no alias. */
function findNamed(stack: Stack | undefined, id: OperationId): string | undefined {
  if (!stack) return undefined;
  const named = stack.template.Resources[`${id}Live`]?.Properties.FunctionVersion;
  return stack.versions[named?.['Fn::GetAtt']?.[0]]?.split(':').at(-1) ?? named;
}

/** Production without deployments, with CloudFormation, CodeDeploy and Lambda as far as a deployment needs them. */
export async function startProduction() {
  const functions = mapOperations(() => ({
    versions: [] as Version[],
    /** Lambda uses no number twice. */
    published: 0,
    alias: {
      FunctionVersion: '',
      RevisionId: '',
      RoutingConfig: { AdditionalVersionWeights: {} },
    } as Alias,
  }));
  const state = {
    status: 'UPDATE_COMPLETE',
    stack: undefined as Stack | undefined,
    deployed: 0,
    releases: [] as Release[],
    /** The parameter of the versions that were left. */
    left: undefined as string | undefined,
    /** The deployments of CodeDeploy that run, with their functions. */
    deployments: {} as Record<string, string>,
    /** How the move of an alias ends in the next update of the stack. */
    toEnd: (_: OperationId): 'moved' | 'refused' | 'runs' => 'moved',
    /** The versions between which the last update of the stack moved requests by CodeDeploy. */
    canaries: {} as Partial<Record<OperationId, string>>,
    uploads: {} as Record<string, string>,
  };
  const find = ({ FunctionName }: Record<string, unknown>) =>
    functions[String(FunctionName).replace(`${name}-`, '') as OperationId];
  const point = (id: OperationId, FunctionVersion: string, weights = {}) => {
    const { alias } = functions[id];
    const RoutingConfig = { AdditionalVersionWeights: weights };
    Object.assign(alias, { FunctionVersion, RoutingConfig, RevisionId: `${alias.RevisionId}+` });
  };

  function publish(
    { Resources }: Template,
    { FunctionName, Description }: { FunctionName: { Ref: string }; Description: string },
  ): string {
    const { Properties } = Resources[FunctionName.Ref];
    const fn = find(Properties);
    const CodeSha256 = `${Properties.Code.S3Key}=`;
    const last = fn.versions.at(-1);
    if (last?.CodeSha256 === CodeSha256 && last.Description === Description) {
      throw new Error('A version for this Lambda function exists');
    }
    fn.published += 1;
    const LastModified = `2026-12-0${state.deployed}T10:20:30.000+0000`;
    fn.versions.push({ Version: `${fn.published}`, Description, CodeSha256, LastModified });
    return `arn:aws:lambda:eu-west-1:123456789012:function:${Properties.FunctionName}:${fn.published}`;
  }

  /** CloudFormation and CodeDeploy know the version that serves only by the template before. */
  function moveAlias(id: OperationId, before: Stack | undefined, next: Stack) {
    const from = findNamed(before, id);
    const to = findNamed(next, id);
    if (to === undefined || to === from) return 'moved';
    const isCanary = from !== undefined && next.template.Resources[`${id}Live`].UpdatePolicy;
    const end = state.toEnd(id);
    if (isCanary) state.canaries[id] = `${from} → ${to}`;
    if (end === 'moved') point(id, to);
    else if (isCanary) point(id, from, end === 'runs' ? { [to]: 0.1 } : {});
    return end;
  }

  /** CloudFormation deletes what was published, and moves back the aliases that its template before names otherwise. */
  function takeBack(before: Stack, next: Stack): void {
    const kept = Object.values(before.versions);
    for (const id of operationIds) {
      const to = findNamed(before, id);
      if (to !== undefined && to !== findNamed(next, id)) point(id, to);
      functions[id].versions = functions[id].versions.filter(({ Version }) => {
        const arn = Object.values(next.versions).find((one) => one.endsWith(`-${id}:${Version}`));
        return arn === undefined || kept.includes(arn);
      });
    }
    const toEnd = () => 'moved' as const;
    Object.assign(state, {
      stack: before,
      status: 'UPDATE_ROLLBACK_COMPLETE',
      deployments: {},
      toEnd,
    });
  }

  let stop = () => {};
  function update(template: Template, isRollbackDisabled = false): void {
    const { stack: before } = state;
    const ofVersions = Object.entries(template.Resources).filter(
      ([, { Type }]) => Type === 'AWS::Lambda::Version',
    );
    const versions = ofVersions.map(([logicalId, { Properties }]) => [
      logicalId,
      before?.versions[logicalId] ?? publish(template, Properties),
    ]);
    const next: Stack = { template, versions: Object.fromEntries(versions) };
    state.canaries = {};
    const ends = operationIds.map((id) => moveAlias(id, before, next));
    if (before && ends.includes('refused') && !isRollbackDisabled) {
      takeBack(before, next);
      return;
    }
    state.stack = next;
    state.status = ends.includes('refused') ? 'UPDATE_FAILED' : 'UPDATE_COMPLETE';
    if (before && ends.includes('runs')) {
      state.status = 'UPDATE_IN_PROGRESS';
      state.deployments = { 'd-InProgress': `${name}-getInventoryEntry` };
      stop = () => takeBack(before, next);
      return;
    }
    // It changes after the aliases, and its history has each change.
    const toRelease = (one?: Stack) => one?.template.Resources.Release.Properties.Value;
    if (toRelease(next) !== toRelease(before)) state.releases.push(JSON.parse(toRelease(next)));
  }

  function deploy(deployment: Deployment): void {
    state.deployed += 1;
    update(toTemplate(deployment));
  }

  const updateAlias = (input: Record<string, unknown>) => {
    const { alias } = find(input);
    const { FunctionVersion, RoutingConfig, RevisionId } = input as unknown as Alias;
    if (RevisionId !== alias.RevisionId) {
      throw new AwsError('PreconditionFailedException', 'The Revision Id does not match', 412);
    }
    // Weights that are not named stay.
    if (RoutingConfig) alias.RoutingConfig = RoutingConfig;
    return Object.assign(alias, { FunctionVersion, RevisionId: `${RevisionId}+` });
  };
  const responses: Responses = {
    DescribeStacks: (input) =>
      describeStack(state.stack ? name : '', {}, () => state.status).DescribeStacks?.(input),
    ...describeReleases(() => state.releases),
    ListDeployments: ({ includeOnlyStatuses }) => ({
      deployments: Object.keys(state.deployments).filter((id) =>
        String(includeOnlyStatuses).includes(id.slice(2)),
      ),
    }),
    ListDeploymentTargets: ({ deploymentId }) => ({
      targetIds: [state.deployments[String(deploymentId)]],
    }),
    StopDeployment({ deploymentId, autoRollbackEnabled }) {
      if (deploymentId === 'd-Ready') {
        throw new AwsError('DeploymentAlreadyCompletedException', 'The deployment is complete');
      }
      // Otherwise, CodeDeploy leaves the requests where they are.
      if (autoRollbackEnabled) stop();
      return { status: 'Pending' };
    },
    GetParameter() {
      if (state.left === undefined) throw new AwsError('ParameterNotFound', 'no such parameter');
      return { Parameter: { Value: state.left } };
    },
    PutParameter({ Value }) {
      state.left = String(Value);
      return {};
    },
    GetAlias(input) {
      const { alias, published } = find(input);
      if (published > 0) return alias;
      throw new AwsError(
        'ResourceNotFoundException',
        `Function not found: ${input.FunctionName}`,
        404,
      );
    },
    // In no order, with what is not published.
    ListVersionsByFunction(input) {
      const { versions } = find(input);
      const Versions = [...versions.slice(-1), { Version: '$LATEST' }, ...versions.slice(0, -1)];
      return { Versions };
    },
    UpdateAlias: updateAlias,
    GetTemplate: () => ({ TemplateBody: JSON.stringify(state.stack?.template) }),
    ListStackResources: () => ({
      StackResourceSummaries: Object.entries(state.stack?.versions ?? {}).map(
        ([LogicalResourceId, PhysicalResourceId]) => ({ LogicalResourceId, PhysicalResourceId }),
      ),
    }),
    PutObject({ Bucket, Key, Body }) {
      state.uploads[`https://${Bucket}.s3.eu-west-1.amazonaws.com/${Key}`] = String(Body);
      return {};
    },
    UpdateStack({ TemplateURL, DisableRollback }) {
      if (/_IN_PROGRESS$|ROLLBACK_FAILED$/.test(state.status)) {
        throw new AwsError('ValidationError', `It is in ${state.status} and can not be updated`);
      }
      const body = String(state.uploads[String(TemplateURL)]);
      const isSame = body === JSON.stringify(state.stack?.template);
      if (isSame && state.status !== 'UPDATE_FAILED') {
        throw new AwsError('ValidationError', 'No updates are to be performed.');
      }
      update(JSON.parse(body), DisableRollback === 'true');
      return { StackId: 'x' };
    },
  };
  const { UpdateStack: updateStack } = responses;
  return {
    aws: await useAws(responses),
    responses,
    state,
    functions,
    updateAlias,
    updateStack,
    deploy,
  };
}
