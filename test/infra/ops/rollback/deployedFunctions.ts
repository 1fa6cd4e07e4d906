import { operationIds } from '../../../../shared/contract/operations.ts';
import { type Answers, AwsError, describeStack } from '../aws.ts';

interface Alias {
  FunctionVersion: string;
  RevisionId: string;
  RoutingConfig?: { AdditionalVersionWeights: Record<string, number> };
}

/** The functions of a stage: each with the versions 1 to 3 of the same three commits, the newest live. */
export function defineDeployedFunctions(stack = 'petstore-production') {
  const commits = ['aaaaaaaaaaa1', 'bbbbbbbbbbb2', 'ccccccccccc3'];
  const toName = (id: string) => `${stack}-${id}`;
  const toVersions = () =>
    commits.map((Description, index) => ({
      Version: String(index + 1),
      Description,
      LastModified: `2026-12-0${index + 1}T10:20:30.000+0000`,
    }));
  const versions = new Map(operationIds.map((id) => [toName(id), toVersions()]));
  const aliases = new Map<string, Alias>(
    operationIds.map((id) => [toName(id), { FunctionVersion: '3', RevisionId: `of-${id}` }]),
  );
  const state = { status: 'UPDATE_COMPLETE', groups: [] as string[] };

  function find<Found>(there: Map<string, Found>, { FunctionName }: Record<string, unknown>) {
    const found = there.get(String(FunctionName));
    if (found) return found;
    throw new AwsError('ResourceNotFoundException', `Function not found: ${FunctionName}`, 404);
  }

  const answers: Answers = {
    ...describeStack(stack, { Commit: 'ccccccccccc3' }, () => state.status),
    ListStackResources: () => ({
      StackResourceSummaries: [
        { ResourceType: 'AWS::Lambda::Alias', PhysicalResourceId: 'ours-getPet' },
        ...state.groups.map((PhysicalResourceId) => ({
          ResourceType: 'AWS::CodeDeploy::DeploymentGroup',
          PhysicalResourceId,
        })),
      ],
    }),
    GetAlias: (input) => find(aliases, input),
    // One a page, in no order, with what is not published between them.
    ListVersionsByFunction: (input) => {
      const known = find(versions, input);
      const all = [...known.slice(-1), { Version: '$LATEST' }, ...known.slice(0, -1)];
      const next = Number(input.Marker ?? 0) + 1;
      return { Versions: [all[next - 1]], ...(next < all.length && { NextMarker: String(next) }) };
    },
    UpdateAlias: (input) => {
      const alias = find(aliases, input);
      const { FunctionVersion, RoutingConfig, RevisionId } = input as unknown as Alias;
      if (RevisionId !== alias.RevisionId) {
        throw new AwsError('PreconditionFailedException', 'The Revision Id does not match', 412);
      }
      if (!find(versions, input).some(({ Version }) => Version === FunctionVersion)) {
        throw new AwsError('ResourceNotFoundException', 'Function not found: version', 404);
      }
      // Weights that are not named stay.
      if (RoutingConfig) alias.RoutingConfig = RoutingConfig;
      return Object.assign(alias, { FunctionVersion, RevisionId: `${RevisionId}+` });
    },
  };

  /** The version that each alias points at, with the shares of others. */
  function live() {
    return Object.fromEntries(
      operationIds.map((id) => {
        const { FunctionVersion, RoutingConfig } = find(aliases, { FunctionName: toName(id) });
        const weights = Object.entries(RoutingConfig?.AdditionalVersionWeights ?? {});
        return [id, weights.length > 0 ? { FunctionVersion, weights } : FunctionVersion];
      }),
    );
  }
  return { answers, state, aliases, versions, live };
}
