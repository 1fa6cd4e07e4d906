import { findResources } from './stackTemplates.ts';
import type { FixtureName } from './stageFixtures.ts';

export interface TemplateRoute {
  readonly method: string;
  readonly path: string;
  // biome-ignore lint/suspicious/noExplicitAny: a template is read as the JSON that it is.
  readonly integration: any;
}

/** Every method of the deployment's gateway, with its path put together from the resources above it. */
export function toRoutes(stage: FixtureName): TemplateRoute[] {
  const resources = findResources(stage, 'AWS::ApiGateway::Resource');
  const toPath = (resourceId: { Ref?: string }): string => {
    const resource = resources[resourceId.Ref ?? ''];
    if (resource === undefined) return '';
    return `${toPath(resource.Properties.ParentId)}/${resource.Properties.PathPart}`;
  };
  return Object.values(findResources(stage, 'AWS::ApiGateway::Method')).map(({ Properties }) => ({
    method: Properties.HttpMethod,
    path: toPath(Properties.ResourceId) || '/',
    integration: Properties.Integration,
  }));
}

/** The integration's response headers, by their names. */
export function toAnswerHeaders(route: TemplateRoute | undefined): Record<string, string> {
  const [answer] = route?.integration.IntegrationResponses ?? [];
  return Object.fromEntries(
    Object.entries<string>(answer.ResponseParameters).map(([name, value]) => [
      name.replace('method.response.header.', ''),
      value,
    ]),
  );
}
