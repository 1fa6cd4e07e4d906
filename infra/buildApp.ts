import { App, type AppProps } from 'aws-cdk-lib';
import { definePetstoreStack } from './petstoreStack.ts';
import { type StageName, stages } from './stages.ts';

// The CDK's own correction, without which CloudFormation reports the access log as drifted.
const context = { '@aws-cdk/aws-apigateway:logGroupDestinationArnWithoutWildcard': true };

/** Both deployments. Synthesizing looks nothing up: no credentials, no network, no account or region. */
export function buildApp(props?: AppProps): App {
  const app = new App({ ...props, context: { ...context, ...props?.context } });
  for (const stage of Object.keys(stages) as StageName[]) definePetstoreStack(app, stage);
  return app;
}
