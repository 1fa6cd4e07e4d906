import { join } from 'node:path';
import { type BundlingOptions, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';
import type { OperationId } from '../../../shared/contract/operations.ts';
import { projectRoot } from '../../stages/projectRoot.ts';

export function toEntry(operationId: OperationId): string {
  return join(projectRoot, 'functions', `${operationId}.ts`);
}

/** Modules that a function would load at every cold start without need, each with its replacement. */
export const alias: Readonly<Record<string, string>> = Object.fromEntries(
  ['@aws-sdk/credential-provider-node', '@smithy/core/event-streams', 'node:fs/promises'].map(
    (name) => [name, join(projectRoot, 'shared/runtime/sdk/replacements.ts')],
  ),
);

/** What Lambda loads in front of a bundle. */
export const entryModule = join(import.meta.dirname, 'index.mjs');

/** For functions that serve no client: the SDK is included, since the runtime's own changes under a deployed function. */
export const toolBundling: BundlingOptions = {
  // esbuild is a dev dependency, so Docker is never needed.
  forceDockerBundling: false,
  format: OutputFormat.CJS,
  target: 'node24',
  minify: true,
  bundleAwsSDK: true,
};

/**
 * Makes one minified file per function, behind a small one that awaits its warm-up. The format is CommonJS, since an
 * ESM import of a Node.js module evaluates all its exports. The runtime's own SDK would bring its credential chain. Each
 * of these choices takes about a third off the cold load, and the replaced modules a fifth.
 */
export const bundling: BundlingOptions = {
  ...toolBundling,
  mainFields: ['module', 'main'],
  commandHooks: {
    beforeInstall: () => [],
    beforeBundling: () => [],
    afterBundling: (_, folder) => [
      `mv "${folder}/index.js" "${folder}/function.cjs"`,
      `cp "${entryModule}" "${folder}/index.mjs"`,
    ],
  },
  esbuildArgs: {
    '--legal-comments': 'none',
    ...Object.fromEntries(Object.entries(alias).map(([name, path]) => [`--alias:${name}`, path])),
  },
};
