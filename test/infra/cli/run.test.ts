import { describe, expect, it } from 'vitest';
import cdkJson from '../../../cdk.json' with { type: 'json' };
import packageJson from '../../../package.json' with { type: 'json' };
import { runOps } from '../ops/opsProcess.ts';

/** Makes a process take itself for one on another version of Node.js. */
const toVersion = (node: string) => ({
  NODE_OPTIONS: `--import "data:text/javascript,Object.defineProperty(process,'versions',{value:{node:'${node}'}})"`,
});
const script = ['infra/ops/keys/keys.ts', 'list', '--table', 'x'];

describe('a command of package.json', () => {
  it.each([
    ['', script],
    [', also in front of what is not ours', []],
  ])('says in one line what to do where Node.js is too old for TypeScript%s', async (_, words) => {
    const variables = toVersion('23.9.1');
    const { status, stdout, stderr } = await runOps('infra/run.js', words, { variables });
    expect(stderr).toMatch(/^This needs Node\.js \d+ and runs on 23\.9\.1: run "npm ci .*\.\n$/);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  });

  it.each(['24.0.0', '100.1.0'])('gets its arguments on Node.js %s', async (version) => {
    const variables = toVersion(version);
    const { status, stderr } = await runOps('infra/run.js', script, { variables });
    expect(stderr).toContain('Say which table: ');
    expect(status).toBe(2);
  });

  it('goes on in silence to what is not ours', async () => {
    expect(await runOps('infra/run.js', [])).toEqual({ status: 0, stdout: '', stderr: '' });
  });

  // Biome is no JavaScript, the SBOM's tool runs on any Node.js, and the CDK runs the app, which comes last.
  const { format: _format, sbom: _sbom, synth, deploy, ...scripts } = packageJson.scripts;
  it.each(Object.entries({ ...scripts, 'cdk.json': cdkJson.app }))(
    'looks at the version first: %s',
    (_, line) => expect(line).toMatch(/^(exec )?node infra\/run\.js (&& .+|\S+\.ts)$/),
  );

  it.each([synth, deploy])('has the CDK look at it: %s', (line) => {
    expect(line).toMatch(/^cdk /);
  });
});
