import { join } from 'node:path';

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
}
