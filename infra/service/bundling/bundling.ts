import { join } from 'node:path';
import { type BundlingOptions, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';
import type { OperationId } from '../../../shared/contract/operations.ts';

export const projectRoot = join(import.meta.dirname, '../../..');

/** The source file of an operation's function. */
export function toEntry(operationId: OperationId): string {
  return join(projectRoot, 'functions', `${operationId}.ts`);
}

/** What a function would load at every cold start and never use, with the file that takes its place. */
export const alias: Readonly<Record<string, string>> = {
  '@aws-sdk/credential-provider-node': toPath('environmentCredentials.ts'),
};

/** Lays `index.mjs` into the folder of a bundle: `node putInFront.js FOLDER`. */
export const putInFront = toPath('putInFront.js');

/**
 * One minified file a function, behind a small one that awaits its warm-up. CommonJS, since an ESM import of
 * one of Node's own modules evaluates every export of it; with the SDK inside, since the one in the runtime comes
 * with its credential chain and changes under a deployed function. Either choice takes about a third off the
 * cold load, and the alias a sixth.
 */
export const bundling: BundlingOptions = {
  // esbuild is a dev dependency; Docker is never wanted.
  forceDockerBundling: false,
  format: OutputFormat.CJS,
  target: 'node24',
  minify: true,
  bundleAwsSDK: true,
  mainFields: ['module', 'main'],
  commandHooks: {
    beforeInstall: () => [],
    beforeBundling: () => [],
    afterBundling: (_, outputFolder) => [`node "${putInFront}" "${outputFolder}"`],
  },
  esbuildArgs: {
    '--legal-comments': 'none',
    ...Object.fromEntries(Object.entries(alias).map(([name, path]) => [`--alias:${name}`, path])),
  },
};

function toPath(file: string): string {
  return join(import.meta.dirname, file);
}
