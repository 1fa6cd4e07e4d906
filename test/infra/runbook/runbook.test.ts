import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };
import { knownServices, parseAwsCommand } from './awsCommand.ts';
import { readShellLines, toWords } from './shellLines.ts';

const documents = ['infra/RUNBOOK.md', 'infra/ops/README.md', 'infra/README.md', 'README.md'];
const lines = documents.flatMap((path) =>
  readShellLines(new URL(`../../../${path}`, import.meta.url)),
);
const byProgram = Map.groupBy(lines, (line) => line.split(' ')[0]);
const awsLines = byProgram.get('aws') ?? [];
const isKnown = (line: string) => knownServices.includes(line.split(' ')[1] ?? '');

const reached: string[] = [];
const aws = createServer(async (request, response) => {
  const body = await text(request);
  const target = String(request.headers['x-amz-target'] ?? '').split('.')[1];
  const action = new URLSearchParams(body).get('Action');
  reached.push(target ?? action ?? `${request.method} ${request.url}`);
  response.writeHead(400).end('{}');
});
let endpoint: string;
beforeAll(async () => {
  aws.listen(0, '127.0.0.1');
  await once(aws, 'listening');
  endpoint = `http://127.0.0.1:${(aws.address() as AddressInfo).port}`;
});
afterAll(() => void aws.close());

describe('what the runbook has its reader type', () => {
  it('is found', () => {
    expect(awsLines.length).toBeGreaterThan(15);
    expect(awsLines.filter((line) => !isKnown(line)).map((line) => line.split(' ')[1])).toEqual(
      expect.arrayContaining(['logs', 's3', 'backup']),
    );
  });

  it.each(awsLines.filter(isKnown))('%s: is a call that AWS has, and reaches it', async (line) => {
    const command = parseAwsCommand(toWords(line));
    if (!command) return;
    reached.length = 0;
    await command.send(endpoint);
    const path = /^(GET|PUT|POST|DELETE) \/\d{4}-\d\d-\d\d\/functions\/petstore-production-/;
    expect(reached).toEqual([
      command.service === 'lambda' ? expect.stringMatching(path) : command.operation,
    ]);
  });

  it.each(byProgram.get('npm') ?? [])('%s: is a script of the project', (line) => {
    const [, verb = '', name = ''] = toWords(line).filter((word) => word !== '-s');
    if (verb === 'run') expect(Object.keys(packageJson.scripts)).toContain(name);
    else expect(['ci', 'start', 'test', 'install']).toContain(verb);
  });

  it('keeps npm silent where a machine reads on', () => {
    const read = (byProgram.get('npm') ?? []).filter((line) => /[|>]|--json/.test(line));
    expect(read.length).toBeGreaterThan(0);
    expect(read.filter((line) => !line.startsWith('npm run -s '))).toEqual([]);
  });

  it('of the CDK is one of its commands, on stacks that there are', () => {
    for (const line of byProgram.get('npx') ?? []) {
      const [, program, command = '', ...rest] = toWords(line);
      if (program !== 'cdk') continue;
      expect(['bootstrap', 'diff', 'destroy', 'deploy']).toContain(command);
      const stacks = rest.filter((word) => word.startsWith('petstore-'));
      for (const stack of stacks) expect(stack).toMatch(/^petstore-(staging|production)(-watch)?$/);
    }
  });
});

describe('a line that is mistyped', () => {
  it.each([
    ['aws lambda move-alias --name live', /no operation MoveAlias/],
    ['aws lambda get-alias --name live', /needs FunctionName/],
    ['aws dynamodb update-table --table-name t --deletion-protected', /no option --deletion-prot/],
    ['aws cloudformation wait stack-gone', /nothing to wait for/],
  ])('%s: is told', (line, told) => {
    expect(() => parseAwsCommand(toWords(line))).toThrow(told);
  });
});
