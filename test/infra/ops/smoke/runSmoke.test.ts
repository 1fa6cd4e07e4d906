import { describe, expect, it } from 'vitest';
import { runSmoke } from '../../../../infra/ops/smoke/runSmoke.ts';
import { stageNames } from '../../../../infra/stages/stages.ts';
import { startCloudFormation } from '../cloudFormation.ts';
import { callOps } from '../opsProcess.ts';

const url = 'https://example.com/v1';
const key = ['--api-key', `psk_${'0'.repeat(42)}`];

describe('npm run smoke', () => {
  it.each([
    [[], '--base-url must be the https address of a stage'],
    [['--base-url', 'http://example.com/v1'], '--base-url must be the https address'],
    [['--base-url', 'https://example.com/v2'], 'such as https://'],
    [['--base-url', url, '--stage', 'staging'], 'Give --stage or --base-url, not both'],
    [['--stage', 'live'], `--stage must be ${stageNames.join(' or ')}; it is "live"`],
    [['--base-url', url], 'Give --api-key-file FILE'],
    [['--base-url', url, '--api-key', 'psk_0123'], 'The API key must be'],
    [['--base-url', url, '--api-key-file', '/nonexistent/key'], '--api-key-file cannot be read'],
    [['--base-url', url, '--api-key-file', 'a', ...key], 'Give --api-key-file or --api-key'],
    [['--base-url', url, ...key, '--entry', '01'], 'such as 7 without a leading zero; it is "01"'],
    [['--base-url', url, ...key, '--origin', 'a'], '--origin must be such as'],
    [['--base-url', url, ...key, '--timeout', '0s'], '--timeout must be from 1s to 1h'],
    [['--base-url', url, ...key, '--deadline', 'soon'], '--deadline must be a number with s'],
    [['--base-url', url, ...key, '--expect-commit'], '--expect-commit takes --stage'],
    [['--base-url', url, ...key, '--lite'], "Unknown option '--lite'"],
  ])('refuses %j with one clear line and status 2', async (args, message) => {
    const { status, stdout, stderr } = await callOps(runSmoke, args);
    expect(stderr).toContain(message);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(stderr).not.toContain('psk_0');
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  });

  it('explains itself', async () => {
    const { status, stdout } = await callOps(runSmoke, ['--help']);
    expect(stdout).toContain('--expect-commit');
    expect(status).toBe(0);
  });

  it.each([
    [
      { Commit: '0123456789ab' },
      'Live is 0123456789ab, as is this checkout.',
      /^this checkout: 1 passed$/m,
    ],
    [
      { Commit: 'ba9876543210' },
      'WARNING  Live is ba9876543210, but this checkout is 0123456789ab.',
      /^FAILED {3}this checkout: is live: Live is ba9876543210, /m,
    ],
    [
      {},
      'The commit that is live is not known.',
      /^FAILED {3}this checkout: is live: The commit /m,
    ],
  ])('compares what is live with the checkout: %j', async (commit, line, report) => {
    const outputs = { BaseUrl: 'http://127.0.0.1:1/v1', ...commit };
    const cloudFormation = await startCloudFormation('petstore-staging', outputs);
    const variables = {
      ...cloudFormation.toVariables('http://127.0.0.1:1'),
      PETSTORE_COMMIT: '0123456789ab',
    };
    const args = ['--stage', 'staging', '--expect-commit', ...key];
    const { stdout } = await callOps(runSmoke, args, variables);
    cloudFormation.close();
    expect(stdout).toContain(`\n${line}\n`);
    expect(stdout).toMatch(report);
  });

  it('says in one line that a stage was never deployed', async () => {
    const cloudFormation = await startCloudFormation('petstore-staging', {});
    const variables = cloudFormation.toVariables('http://127.0.0.1:1');
    const outcome = await callOps(runSmoke, ['--stage', 'staging', ...key], variables);
    cloudFormation.close();
    expect(outcome).toMatchObject({ status: 1, stdout: '' });
    expect(outcome.stderr).toContain('petstore-staging has no output BaseUrl');
  });
});
