import { join } from 'node:path';
import { type BundlingOptions, LogLevel, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';
import type { OperationId } from '../shared/contract/operations.ts';

export const projectRoot = join(import.meta.dirname, '..');

/** The source file of an operation's function. */
export function toEntry(operationId: OperationId): string {
  return join(projectRoot, 'functions', `${operationId}.ts`);
}

/**
 * One minified file a function. CommonJS, since an ESM import of one of Node's own modules evaluates
 * every export of it; with the SDK inside, since the one in the runtime comes with its credential
 * chain and changes under a deployed function. Either choice takes about a third off the cold load.
 */
export const bundling: BundlingOptions = {
  // esbuild is a dev dependency; Docker is never wanted.
  forceDockerBundling: false,
  format: OutputFormat.CJS,
  target: 'node24',
  minify: true,
  bundleAwsSDK: true,
  mainFields: ['module', 'main'],
  logLevel: LogLevel.WARNING,
  esbuildArgs: {
    '--alias:@aws-sdk/credential-provider-node': join(
      projectRoot,
      'infra/bundling/environmentCredentials.ts',
    ),
    '--legal-comments': 'none',
  },
};
