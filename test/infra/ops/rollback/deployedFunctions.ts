import { operationIds } from '../../../../shared/contract/operations.ts';
import { type Answers, AwsError } from '../aws.ts';

interface Alias {
  FunctionVersion: string;
  RevisionId: string;
  RoutingConfig?: { AdditionalVersionWeights: Record<string, number> };
}

/** The functions of a stage: each with the versions 1 to 3 of the same three commits, the newest live. */
export function defineDeployedFunctions(stack = 'petstore-production') {
  const commits = ['aaaaaaaaaaa1', 'bbbbbbbbbbb2', 'ccccccccccc3'];
  const toName = (id: string) => `${stack}-${id}`;
  const versions = new Map(
    operationIds.map((id) => [
      toName(id),
      commits.map((commit, index) => ({
        Version: String(index + 1),
        Description: commit,
        LastModified: `2026-12-0${index + 1}T10:20:30.000+0000`,
      })),
    ]),
  );
  const aliases = new Map<string, Alias>(
    operationIds.map((id) => [toName(id), { FunctionVersion: '3', RevisionId: `of-${id}` }]),
  );
  const state = { StackStatus: 'UPDATE_COMPLETE', groups: [] as string[] };

  function findAlias({ FunctionName }: Record<string, unknown>): Alias {
    const alias = aliases.get(String(FunctionName));
    if (alias) return alias;
    throw new AwsError('ResourceNotFoundException', `Function not found: ${FunctionName}`, 404);
  }

  const answers: Answers = {
    DescribeStacks: ({ StackName }) => {
      if (StackName !== stack) {
        throw new AwsError('ValidationError', `Stack with id ${StackName} does not exist`);
      }
      const Outputs = [{ OutputKey: 'Commit', OutputValue: commits[2] }];
      const { StackStatus } = state;
      return {
        Stacks: [{ StackName, StackStatus, Outputs, CreationTime: '2026-12-01T00:00:00Z' }],
      };
    },
    ListStackResources: () => ({
      StackResourceSummaries: [
        { ResourceType: 'AWS::Lambda::Alias', PhysicalResourceId: 'x' },
        ...state.groups.map((PhysicalResourceId) => ({
          ResourceType: 'AWS::CodeDeploy::DeploymentGroup',
          PhysicalResourceId,
        })),
      ],
    }),
    GetAlias: findAlias,
    // One a page, in no order, with what is not published between them.
    ListVersionsByFunction: ({ FunctionName, Marker = '0' }) => {
      const known = versions.get(String(FunctionName)) ?? [];
      const all = [...known.slice(-1), { Version: '$LATEST' }, ...known.slice(0, -1)];
      const next = Number(Marker) + 1;
      return {
        Versions: [all[Number(Marker)]],
        ...(next < all.length && { NextMarker: String(next) }),
      };
    },
    UpdateAlias: (input) => {
      const alias = findAlias(input);
      if (input.RevisionId !== alias.RevisionId) {
        throw new AwsError(
          'PreconditionFailedException',
          'The Revision Id provided does not match',
          412,
        );
      }
      const { FunctionVersion, RoutingConfig } = input as unknown as Alias;
      const known = versions.get(String(input.FunctionName)) ?? [];
      if (!known.some(({ Version }) => Version === FunctionVersion)) {
        throw new AwsError(
          'ResourceNotFoundException',
          `Function not found: ${FunctionVersion}`,
          404,
        );
      }
      // Weights that are not named stay.
      if (RoutingConfig) alias.RoutingConfig = RoutingConfig;
      Object.assign(alias, { FunctionVersion, RevisionId: `${alias.RevisionId}+` });
      return alias;
    },
  };

  return {
    answers,
    state,
    aliases,
    versions,
    /** The version that each alias points at, with the shares of others. */
    live: () =>
      Object.fromEntries(
        operationIds.map((id) => {
          const { FunctionVersion, RoutingConfig } = aliases.get(toName(id)) as Alias;
          const weights = RoutingConfig?.AdditionalVersionWeights ?? {};
          return [
            id,
            Object.keys(weights).length > 0 ? { FunctionVersion, ...weights } : FunctionVersion,
          ];
        }),
      ),
  };
}
