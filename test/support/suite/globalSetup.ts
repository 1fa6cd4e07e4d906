import { join } from 'node:path';

/**
 * What the processes of the tests share. The CDK, the SDK and the commands that the tests start load
 * sooner from a cache of compiled modules (https://nodejs.org/api/module.html#module-compile-cache). The
 * CDK's own look at the templates, three quarters of a synthesis, only warns, and no test reads what it
 * says: `npm run synth` has it.
 */
export default function setup(): void {
  process.env.NODE_COMPILE_CACHE ??= join(
    import.meta.dirname,
    '../../../node_modules/.cache/compile',
  );
  process.env.CDK_VALIDATION = 'false';
}
