import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { runSecrets } from '../../../infra/supply/runSecrets.ts';
import { mintApiKey } from '../../../shared/keys/apiKey.ts';
import { callOps, runOps } from '../ops/opsProcess.ts';

const { apiKey, keyId } = mintApiKey();
const advice =
  'Revoke each first, by "npm run keys -- revoke KEY_ID --stage STAGE": who has the commit has the key.\n';
const nothing = { status: 0, stdout: 'No API keys.\n', stderr: '' };

describe('npm run secrets', () => {
  const parent = mkdtempSync(join(tmpdir(), 'petstore-secrets-'));
  const begun = join(parent, 'begun');
  let folder = begun;
  let first: string;
  beforeAll(() => {
    // A person's settings are not read, and a hook's would name another repository.
    vi.stubEnv('HOME', '/nonexistent');
    for (const name of Object.keys(process.env)) {
      if (name.startsWith('GIT_')) vi.stubEnv(name, undefined);
    }
    mkdirSync(begun);
    git('init', '--quiet', '--initial-branch=main', '--template=');
    first = commit('README.md', 'The service\n');
  });
  beforeEach(() => {
    folder = mkdtempSync(join(parent, 'test-'));
    cpSync(begun, folder, { recursive: true });
  });
  afterAll(() => {
    rmSync(parent, { recursive: true });
    vi.unstubAllEnvs();
  });

  function git(...args: string[]): string {
    const identity = ['-c', 'user.name=Someone', '-c', 'user.email=someone@petstore.example'];
    return execFileSync('git', [...identity, ...args], {
      cwd: folder,
      encoding: 'utf8',
    }).trim();
  }

  function commit(file: string, text: string, message = `Write ${file}`): string {
    writeFileSync(join(folder, file), text);
    git('add', '--all');
    git('commit', '--quiet', '--message', message);
    return git('rev-parse', '--short=12', 'HEAD');
  }

  async function run(...options: string[]) {
    const cwd = vi.spyOn(process, 'cwd').mockReturnValue(folder);
    const outcome = await callOps(runSecrets, options);
    cwd.mockRestore();
    return outcome;
  }

  it('finds none where there are examples, and keys whose checksum is wrong', async () => {
    const wrong = `${apiKey.slice(0, -1)}${apiKey.endsWith('a') ? 'b' : 'a'}`;
    commit('keys.txt', `psk_…\npsk_0123456789\n${wrong}\n`);
    expect(await run()).toEqual(nothing);
    expect(await run('--since', first)).toEqual(nothing);
  });

  it('says where a key stands, by its id and never by itself', async () => {
    commit('a file.ts', `const one = 1;\nconst apiKey = '${apiKey}x';\n`);
    const stdout = `a file.ts:2: the API key of key id ${keyId}\n${advice}`;
    expect(await run()).toEqual({ status: 1, stdout, stderr: '' });
  });

  it('leaves alone what git does not track', async () => {
    writeFileSync(join(folder, 'mine.txt'), apiKey);
    expect(await run('--since', first)).toEqual(nothing);
  });

  it('finds a key that a later commit took away, but not one from before', async () => {
    const added = commit('docs.md', `one\n++ \0 \r ${apiKey}\n`);
    const removed = commit('docs.md', 'one\n');
    const stdout = `docs.md:2 at commit ${added}: the API key of key id ${keyId}\n${advice}`;
    expect(await run()).toEqual(nothing);
    expect(await run('--since', first)).toEqual({ status: 1, stdout, stderr: '' });
    expect(await run('--since', added)).toEqual(nothing);
    expect(await run('--since', removed)).toEqual(nothing);
  });

  it.each(['0000000000000000000000000000000000000000', '', '--all', 'nowhere'])(
    'goes through the whole history where there is no commit %j',
    async (since) => {
      const added = commit('docs.md', apiKey);
      const { status, stdout } = await run(`--since=${since}`);
      expect(status).toBe(1);
      expect(stdout).toContain(`docs.md:1 at commit ${added}: the API key`);
    },
  );

  it('finds a key in a message, and in what a merge itself brings in', async () => {
    git('checkout', '--quiet', '-b', 'side');
    const told = commit('side.txt', 'side\n', `Say it\n\n@@ -1 +1 @@ ${apiKey}`);
    git('checkout', '--quiet', 'main');
    commit('main.txt', 'main\n');
    git('merge', '--quiet', '--no-commit', '--no-ff', 'side');
    const merged = commit('merged.txt', `\n${apiKey}\n`);
    const { status, stdout } = await run('--since', first);
    expect(status).toBe(1);
    expect(stdout).toContain(`message at commit ${told}: the API key of key id ${keyId}\n`);
    expect(stdout).toContain(`merged.txt:2 at commit ${merged}: the API key of key id ${keyId}\n`);
    expect(stdout).not.toContain(apiKey.slice(14));
  });

  it('finds a key that is a file’s name, and does not print it there', async () => {
    commit(apiKey, `\n${apiKey}\n`);
    const { status, stdout } = await run('--since', first);
    expect(status).toBe(1);
    expect(stdout).toContain(`the name of a file: the API key of key id ${keyId}\n`);
    expect(stdout).toContain(`psk_…:2: the API key of key id ${keyId}\n`);
    expect(stdout).not.toContain(apiKey.slice(14));
  });

  it('fails in one line where there is no git to ask', async () => {
    rmSync(join(folder, '.git'), { recursive: true });
    const { status, stdout, stderr } = await run();
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^[^\n]*not a git repository[^\n]*\n$/);
  });

  it('explains itself, and knows no other option', async () => {
    const help = await runOps('infra/supply/secrets.ts', ['--help']);
    expect(help).toMatchObject({ status: 0, stderr: '' });
    expect(help.stdout).toMatch(/^npm run secrets /);
    const stderr = "Unknown option '--all'. See --help.\n";
    expect(await run('--all')).toEqual({ status: 2, stdout: '', stderr });
  });
});
