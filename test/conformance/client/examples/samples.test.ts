import { execFile } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { guideNames, renderGuide } from '../../../../infra/docs/guide.ts';
import { decodeHtml } from '../../../../infra/docs/markdown.ts';
import type { Example } from '../../../../infra/docs/openapi/openApi.ts';
import { readCommittedDocument } from '../../../../infra/docs/openapi/openApiDocument.ts';
import { startEmbeddedEngine } from '../../../../infra/local/engine/engine.ts';
import { type LocalStage, startLocalStage } from '../../../../infra/local/localStage.ts';
import { readStoreData } from '../../../../infra/local/storeData.ts';
import { projectRoot } from '../../../../infra/stages/projectRoot.ts';
import { type ForeignResponse, startProxy } from '../../../support/faults/proxy.ts';
import { keepLogs } from '../../../support/keepLogs.ts';
import { openTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { defineFreshFunctions } from '../../localTarget.ts';
import { hasCurl, python } from './sellers.ts';

const sample = new URL('../../../../infra/local/sample.json', import.meta.url);

/** Blocks that this test does not run, by their beginning. */
const notRun: Readonly<Record<string, string>> = {
  'npm ci && npm start':
    'CI runs both commands; the other samples call the service that `npm start` starts.',
  'npm install http:': 'It ran before all samples, which need what it installs.',
};

/** The client's README is a guide's text. */
const readmes = ['README.md'];
const pages = [...readmes, ...guideNames.map((name) => `${name}.html`)];

type Language = 'sh' | 'ts' | 'js' | 'python';
const languages = 'sh ts js python json http text'.split(' ');

interface Block {
  readonly language: string;
  readonly code: string;
}

let stage: LocalStage;
let blocks: ReadonlyMap<string, readonly Block[]>;
const folder = openTemporaryFolder();
beforeAll(async () => {
  keepLogs();
  const data = await readStoreData(sample);
  const loadModule = defineFreshFunctions();
  stage = await startLocalStage({ port: 0, startEngine: startEmbeddedEngine, data, loadModule });
  blocks = new Map(
    await Promise.all(pages.map(async (page) => [page, await readBlocks(page)] as const)),
  );
  // A reader's folder after `npm init -y`. npm calls the stage alone.
  folder.write('package.json', '{"type": "commonjs"}');
  folder.write('.npmrc', 'audit=false\ncache=npm\nregistry=http://127.0.0.1:1/\n');
  const [{ code: install = '' } = {}] = blocks.get('client.html') ?? [];
  expect(install).toMatch(/^npm install http:\S+\n$/);
  await execute('sh', ['-euc', install]);
  // An error response fails the sample.
  folder.write('.curlrc', 'fail-with-body\nsilent\nshow-error\n');
  // The arguments of each curl, which `ps` would show.
  const record = `echo "$@" >>'${folder.toPath('arguments.txt')}'`;
  const curl = folder.write('curl', `#!/bin/sh\n${record}\nPATH=\${PATH#*:} exec curl "$@"\n`);
  chmodSync(curl, 0o755);
});
afterAll(() => stage?.close());

/** The blocks of a page as it shows them, with the stage's address and key. */
async function readBlocks(page: string): Promise<Block[]> {
  const html = readmes.includes(page)
    ? renderGuide(page, readFileSync(join(projectRoot, page), 'utf8')).html
    : await (await fetch(`${stage.documentationAddress}/${page}`)).text();
  const pattern = /<pre\b[^>]*>\s*<code(?: class="language-(\w+)")?[^>]*>(.*?)<\/code>/gs;
  return [...html.matchAll(pattern)].map(([, language = '', text = '']) => ({
    language,
    code: fillIn(decodeHtml(text.replaceAll(/<[^>]*>/g, ''))),
  }));
}

/** Fills in what a reader of a README fills in, and the repository's path. */
function fillIn(code: string): string {
  return code
    .replaceAll('http://127.0.0.1:3000/v1', stage.baseUrl)
    .replaceAll('psk_…', stage.apiKey)
    .replaceAll("'./shared/", `'${projectRoot}/shared/`);
}

/** The blocks of one language on a page, in order: they may build on each other. */
function toProgram(page: string, language: Language): string {
  const isRun = ({ code }: Block) => !Object.keys(notRun).some((start) => code.startsWith(start));
  const own = blocks.get(page)?.filter((block) => block.language === language) ?? [];
  return own
    .filter(isRun)
    .map(({ code }) => code)
    .join('\n');
}

/**
 * A program with the first call before it, which guides continue.
 * @param start what the first call has, and a program that is complete without it
 */
function continueFirstCall(page: string, language: Language, start: string): string {
  const program = toProgram(page, language);
  if (program === '' || program.includes(start) || language === 'js') return program;
  const firstCall = blocks.get('index.html')?.find((block) => block.language === language);
  return `${firstCall?.code}\n${program}`;
}

it('every block runs or is a known exception, and every exception is needed', () => {
  const all = [...blocks.values()].flat();
  expect(all.filter(({ language }) => !languages.includes(language))).toEqual([]);
  expect(all.length).toBeGreaterThan(15);
  for (const start of Object.keys(notRun)) {
    const found = all.filter(({ code }) => code.startsWith(start));
    expect(found, start).toHaveLength(1);
  }
});

it('shows requests and responses as the document has them', () => {
  const document = JSON.stringify(readCommittedDocument()).replaceAll('999999', '7');
  const lines = [...blocks.values()]
    .flat()
    .filter(({ language }) => language === 'json' || language === 'http')
    .flatMap(({ code }) => code.split('\n'));
  const bodies = lines.filter((line) => /^\[?\{"/.test(line));
  const tags = lines.flatMap((line) => /^(?:ETag|If-Match): (.*)/.exec(line)?.[1] ?? []);
  expect([bodies.length, tags.length]).toEqual([4, 1]);
  for (const text of [...bodies, ...tags.map((tag) => JSON.stringify(tag))]) {
    expect(document).toContain(text);
  }
});

it('each sample and each example of the document has another Idempotency-Key', () => {
  const { post } = readCommittedDocument().paths['/inventory/adjustments'] ?? {};
  const header = post?.parameters.find(({ name }) => name === 'Idempotency-Key') as unknown as {
    readonly examples: Readonly<Record<string, Example>>;
  };
  const key = /(?:Idempotency-Key'?"?: ['"]?|idempotencyKey: ')([\w/-]+)/g;
  const ofSamples = [...blocks.values()].flatMap((all) =>
    all.flatMap(({ code }) => [...code.matchAll(key)].map(([, found]) => found)),
  );
  const ofDocument = Object.values(header.examples).map(({ value }) => value);
  const keys = [...ofDocument, ...ofSamples];
  expect(keys.length).toBeGreaterThan(11);
  expect([...new Set(keys)]).toEqual(keys);
});

it.runIf(hasCurl).each(pages)('the commands of %s run without an error', async (page) => {
  const program = python && continueFirstCall(page, 'python', 'import json');
  const script = `${toProgram(page, 'sh')}\n${program && `'${python}' - <<'PYTHON'\n${program}\nPYTHON`}`;
  if (script === '\n') return;
  const path = `${folder.folder}:${process.env.PATH}`;
  folder.write('arguments.txt', '');
  await execute('sh', ['-euc', script], { CURL_HOME: folder.folder, PATH: path });
  expect(folder.read('arguments.txt')).not.toContain(stage.apiKey);
});

it.runIf(hasCurl)('the loop over pages fails if a page in the middle fails', async () => {
  let pages = 0;
  const proxy = await startProxy(stage.baseUrl, () => (++pages === 2 ? 'busy' : 'passed'));
  const loop = blocks.get('lists.html')?.find(({ code }) => code.includes('headers.txt'));
  const code = `${loop?.code}`.replaceAll(stage.baseUrl, proxy.baseUrl).replace('=10', '=5');
  // As in a terminal, without `set -e`.
  const running = promisify(execFile)('sh', ['-c', code], { cwd: folder.folder });
  await expect(running).rejects.toMatchObject({ code: 22 });
  proxy.close();
  expect(pages).toBe(2);
});

describe.runIf(hasCurl && python)('a sample sends the key to no other server', () => {
  const keys: unknown[] = [];
  let elsewhere: Awaited<ReturnType<typeof startProxy>>;
  beforeAll(async () => {
    elsewhere = await startProxy(stage.baseUrl, ({ headers }) => {
      keys.push(headers.authorization);
      return 'passed';
    });
  });
  afterAll(() => elsewhere?.close());

  /** Runs a sample behind a proxy that leads elsewhere by its first response. @returns the number of requests */
  async function runBehind(code: string, program: string, response: ForeignResponse) {
    let requests = 0;
    const proxy = await startProxy(stage.baseUrl, () => (++requests === 1 ? response : 'passed'));
    const words = ['-c', code.replaceAll(stage.baseUrl, proxy.baseUrl)];
    const running = promisify(execFile)(program, words, { cwd: folder.folder });
    await running.catch(() => {});
    proxy.close();
    return requests;
  }

  it('after a redirect', async () => {
    const response = { status: 302, headers: { Location: `${elsewhere.baseUrl}/inventory` } };
    const firstCalls = blocks.get('index.html') ?? [];
    for (const [language, program] of [
      ['sh', 'sh'],
      ['python', python],
    ] as const) {
      const code = firstCalls.find((block) => block.language === language)?.code ?? '';
      expect(await runBehind(code, program, response)).toBe(1);
    }
    expect(keys).toEqual([]);
  });

  it.each(['//', 'http://me@', '@'])('by a link to a page at %s…', async (start) => {
    const link = `${start}${new URL(elsewhere.baseUrl).host}/v1/store/orders`;
    const response = { status: 200, body: '[]', headers: { Link: `<${link}>; rel="next"` } };
    const loop = blocks.get('lists.html')?.find(({ code }) => code.includes('headers.txt'));
    const program = continueFirstCall('lists.html', 'python', 'import json');
    const pages = program.slice(program.indexOf('import re'));
    const begin = program.slice(0, program.indexOf('with urlopen'));
    expect(await runBehind(`${loop?.code}`, 'sh', response)).toBe(2);
    expect(await runBehind(begin + pages, python, response)).toBe(2);
    expect(keys).toEqual([]);
  });
});

describe('the programs', () => {
  const files: string[] = [];
  beforeAll(() => {
    for (const page of pages) {
      for (const language of ['ts', 'js'] as const) {
        const program = continueFirstCall(page, language, 'createPetstoreClient(');
        if (program === '') continue;
        // As the guides say, since npm's packages are CommonJS.
        const name = `${page.replaceAll('/', '-')}.m${language}`;
        files.push(folder.write(name, `${program}\nexport {};\n`));
      }
    }
  });

  it('match the types of the client, with the settings of a new project', async () => {
    const tsc = join(projectRoot, 'node_modules/.bin/tsc');
    await execute(tsc, ['--init']);
    const options =
      '--project . --singleThreaded --noEmit --allowImportingTsExtensions --types node --typeRoots';
    await execute(tsc, [...options.split(' '), join(projectRoot, 'node_modules/@types')]);
  });

  it('of generated clients keep ids in errors and in bodies, by functions that the setups share', async () => {
    const setups = blocks
      .get('generated-clients.html')
      ?.filter(({ code }) => /\bquoteIds\b/.test(code));
    expect(setups).toHaveLength(3);
    const body = '{"refused":[{"petId":9223372036854775807,"quantity":0}],"id":{}}';
    const program = `
      const { quoteIds, unquoteIds } = await import(${JSON.stringify(folder.toPath('generated-clients.html.mts'))});
      const headers = { 'Content-Type': 'application/json' };
      const error = await quoteIds(new Response('${body}', { status: 409, headers }));
      console.log(error.status, await error.text());
      console.log((await quoteIds(new Response(null, { status: 304 }))).status);
      console.log(unquoteIds(JSON.stringify({ petId: 9223372036854775807n, delta: -1 })));`;
    const output = await execute(process.execPath, ['--input-type=module', '--eval', program]);
    expect(output).toContain(`409 ${body.replace(/(\d{19})/, '"$1"')}\n304\n`);
    expect(output).toContain('{"petId":9223372036854775807,"delta":-1}\n');
  });

  it('run', async () => {
    const program = files.map((file) => `await import(${JSON.stringify(file)});`).join('\n');
    const module = ['--input-type=module', '--eval', program];
    await execute(process.execPath, module, { API_KEY: stage.apiKey });
  });
});

/** Runs a program in the reader's folder, with only this environment. */
async function execute(program: string, args: readonly string[], env = {}): Promise<string> {
  const options = { cwd: folder.folder, env: { PATH: process.env.PATH, ...env } };
  const running = promisify(execFile)(program, args, options);
  const ended = await running.catch(({ stdout, stderr }) => expect.fail(`${stdout}\n${stderr}`));
  return ended.stdout;
}
