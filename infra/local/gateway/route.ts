import type { LambdaFunction } from '../lambda/lambdaFunction.ts';

/** Where a path leads: its functions by method, and the parameters as the path has them, decoded. */
export interface Route {
  /** As the contract has it, such as `/pets/{petId}`. */
  readonly path: string;
  readonly functions: ReadonlyMap<string, LambdaFunction>;
  readonly pathParameters: Record<string, string>;
}

export type FindRoute = (path: string) => Route | undefined;

/** @returns a search by paths relative to the base address; as on API Gateway, a slash at the end counts */
export function defineRoutes(functions: readonly LambdaFunction[]): FindRoute {
  const byPath = Map.groupBy(functions, ({ operation }) => operation.path);
  const routes = [...byPath].map(([path, group]) => ({
    path,
    template: path.split('/'),
    functions: new Map(group.map((each) => [each.operation.method, each])),
  }));
  return function findRoute(searched) {
    const segments = searched.split('/');
    for (const { path, template, functions } of routes) {
      const pathParameters = match(template, segments);
      if (pathParameters) return { path, functions, pathParameters };
    }
    return undefined;
  };
}

function match(template: string[], segments: string[]): Record<string, string> | undefined {
  if (template.length !== segments.length) return undefined;
  const parameters: [string, string][] = [];
  for (const [index, expected] of template.entries()) {
    const segment = segments[index] ?? '';
    if (!expected.startsWith('{')) {
      if (segment !== expected) return undefined;
    } else if (segment === '') {
      return undefined;
    } else {
      parameters.push([expected.slice(1, -1), decode(segment)]);
    }
  }
  return Object.fromEntries(parameters);
}

/** Text that is not percent-encoded UTF-8 stays as it is, for the function to refuse. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
