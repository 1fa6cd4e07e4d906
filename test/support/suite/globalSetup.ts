import { join } from 'node:path';

/**
 * The SDK's own defaults. Each client that finds one of them neither in its settings nor here looks for it in the
 * configuration files of the machine, which takes longer than a call.
 */
const sdkDefaults = {
  AWS_ACCOUNT_ID_ENDPOINT_MODE: 'preferred',
  AWS_AUTH_SCHEME_PREFERENCE: '',
  AWS_DEFAULTS_MODE: 'legacy',
  AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: 'false',
  AWS_MAX_ATTEMPTS: '3',
  AWS_RETRY_MODE: 'standard',
  AWS_SDK_UA_APP_ID: '',
  AWS_USE_DUALSTACK_ENDPOINT: 'false',
  AWS_USE_FIPS_ENDPOINT: 'false',
};

/**
 * Shared by all test processes. The CDK, the SDK and the commands load faster from a cache of compiled modules:
 * https://nodejs.org/api/module.html#module-compile-cache
 *
 * The CDK's own check of the templates takes three quarters of a synthesis. It only warns, and no test reads its
 * warnings; `npm run synth` shows them.
 */
export default function setup(): void {
  process.env.NODE_COMPILE_CACHE ??= join(
    import.meta.dirname,
    '../../../node_modules/.cache/compile',
  );
  process.env.CDK_VALIDATION = 'false';
  Object.assign(process.env, sdkDefaults);
}
