import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as cloudformation from '@aws-sdk/client-cloudformation';
import * as deploy from '@aws-sdk/client-codedeploy';
import * as dynamodb from '@aws-sdk/client-dynamodb';
import * as lambda from '@aws-sdk/client-lambda';
import { describe, expect, it } from 'vitest';
import { projectRoot } from '../../infra/stages/projectRoot.ts';
import { buildTags, toNames } from '../../infra/stages/resourceNames.ts';
import { stageNames, stages } from '../../infra/stages/stages.ts';
import { tables } from '../../infra/stages/tables.ts';
import { operationIds } from '../../shared/contract/operations.ts';

const documents = [
  'infra/RUNBOOK.md',
  'infra/OPERATIONS.md',
  'infra/ops/README.md',
  'infra/README.md',
  'README.md',
];
const lines = documents.flatMap(readShellLines);
const byProgram = Map.groupBy(new Set(lines), (line) => line.split(' ')[0]);
const awsLines = byProgram.get('aws') ?? [];

const services: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  cloudformation,
  deploy,
  dynamodb,
  lambda,
};
const isKnown = (line: string) => (line.split(' ')[1] ?? '') in services;

describe('a command in the documents', () => {
  it('is found', () => {
    expect(awsLines.length).toBeGreaterThan(15);
    const others = awsLines.filter((line) => !isKnown(line)).map((line) => line.split(' ')[1]);
    expect(others).toEqual(expect.arrayContaining(['logs', 's3', 'backup']));
  });

  it.each(awsLines.filter(isKnown))('%s: is a call of AWS', (line) => {
    checkAwsCommand(toWords(line));
    const [, name] = /--function-name petstore-production-(\S+)/.exec(line) ?? [];
    if (line.includes('--function-name')) expect(operationIds).toContain(name);
  });

  it('names a command of the CDK, and stacks that exist', () => {
    for (const line of byProgram.get('npx') ?? []) {
      const [, program, command = '', ...rest] = toWords(line);
      if (program !== 'cdk') continue;
      expect(['bootstrap', 'diff', 'destroy', 'deploy', 'drift']).toContain(command);
      const stacks = rest.filter((word) => word.startsWith('petstore-'));
      for (const stack of stacks)
        expect(stack).toMatch(new RegExp(`^petstore-(${stageNames.join('|')})(-watch|-backup)?$`));
    }
  });
});

it('the lines for a failed first deployment lift the protection before a deployment that takes the tables over', () => {
  expect(readText('infra/OPERATIONS.md')).toMatch(
    /^aws cloudformation update-termination-protection --no-enable-termination-protection --stack-name STACK\nnpm run deploy petstore-STAGE-watch -- --import-existing-resources /m,
  );
});

it('the lines of a restore give the new table what production sets, in an order that AWS takes', () => {
  const [, section = ''] =
    /^## Restore a table\n(.*?)^### /ms.exec(readText('infra/OPERATIONS.md')) ?? [];
  const [, block = ''] = /```sh\n(.*?)```/s.exec(section) ?? [];
  const lines = block
    .replaceAll(/ +#.*/g, '')
    .replaceAll(/ *\\\n */g, ' ')
    .trim()
    .split('\n');
  const stage = stages.production;
  const table = toNames(stage).toTable('inventory');
  const { read, write } = stage.settings.maximumUnitsPerSecond.inventory;
  const tags = Object.entries(buildTags(stage)).map(([key, value]) => {
    return `Key=${key},Value=${value.includes(' ') ? `'${value}'` : value}`;
  });
  expect(lines).toEqual([
    `table=${table}`,
    `restored=${table}-20261224T095900Z`,
    `aws dynamodb restore-table-to-point-in-time --source-table-name "$table" --target-table-name "$restored" --restore-date-time 2026-12-24T09:59:00Z --on-demand-throughput-override MaxReadRequestUnits=${read},MaxWriteRequestUnits=${write}`,
    'aws dynamodb wait table-exists --table-name "$restored"',
    'aws dynamodb update-continuous-backups --table-name "$restored" --point-in-time-recovery-specification PointInTimeRecoveryEnabled=true',
    'arn=$(aws dynamodb describe-table --table-name "$restored" --query Table.TableArn --output text)',
    `aws dynamodb tag-resource --resource-arn "$arn" --tags ${tags.join(' ')}`,
    'aws dynamodb update-table --table-name "$restored" --deletion-protection-enabled',
  ]);
  expect(section).toContain(`Enabled=true,AttributeName=${tables.requests.timeToLive}\``);
});

function readText(path: string): string {
  return readFileSync(join(projectRoot, path), 'utf8');
}

/** The commands in a document's shell blocks, and AWS's in its text, with names in place of the words in capitals. */
function readShellLines(path: string): string[] {
  return [...readText(path).matchAll(/^ *```sh\n(.*?)^ *```|`(aws [^`]* --[^`]*)`/gms)]
    .flatMap(([, block, line = '']) => (block ?? line).replaceAll(/\\\n\s*/g, ' ').split('\n'))
    .map((line) => line.replace(/\s+#.*$/, '').trim())
    .filter((line) => line !== '')
    .map((line) =>
      line.replaceAll('OPERATION', 'updateInventory').replaceAll('STAGE', 'production'),
    );
}

/** The words of a line, as a shell reads them. */
function toWords(line: string): string[] {
  const words = line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g);
  return [...words].map(([, single, double, bare]) => single ?? double ?? bare ?? '');
}

type CommandClass = new (input: unknown) => { readonly schema: readonly unknown[] };

/** @throws {Error} when AWS has no such operation, option or waiter, or when a required option is missing */
function checkAwsCommand([, service = '', name = '', ...rest]: string[]): void {
  const module = services[service] ?? {};
  if (name === 'wait') {
    const waiter = `waitUntil${toPascal(rest[0] ?? '')}`;
    if (!(waiter in module)) throw new Error(`There is no waiter ${waiter}.`);
    return;
  }
  const operation = toPascal(name);
  const Command = module[`${operation}Command`] as CommandClass | undefined;
  if (!Command) throw new Error(`${service} has no operation ${operation}.`);
  // The SDK's schema of the operation's input lists the required members first.
  const { schema } = new Command({});
  const input = (typeof schema[4] === 'function' ? schema[4]() : schema[4]) as readonly unknown[];
  const members = (input[4] as string[]) ?? [];
  const missing = new Set(members.slice(0, Number(input[6] ?? 0)));
  for (const option of rest.filter((word) => word.startsWith('--'))) {
    // Options of the CLI itself.
    if (['--query', '--output', '--region'].includes(option)) continue;
    const wanted = toPascal(option.replace(/^--(no-)?/, '')).toLowerCase();
    const member = members.find((one) => one.toLowerCase() === wanted);
    if (member === undefined) throw new Error(`There is no option ${option}.`);
    missing.delete(member);
  }
  if (missing.size > 0) throw new Error(`${operation} needs ${[...missing].join(', ')}.`);
}

function toPascal(name: string): string {
  return name.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

// Links of the guides are the published site's, and tested there.
const files = globSync(['*', '{.github,functions,infra,shared,test}/**'], {
  cwd: projectRoot,
  exclude: ['**/node_modules', 'infra/docs/guides'],
});

it('every link between the Markdown files leads to a file and a heading', () => {
  const links = files
    .filter((file) => file.endsWith('.md'))
    .flatMap((file) =>
      [...readText(file).matchAll(/\]\(([^)\s]+)\)/g)].map(
        ([, link = '']) => [file, link] as const,
      ),
    );
  const inner = links.filter(([, link]) => !/^https?:/.test(link));
  expect(inner.length).toBeGreaterThan(50);
  const broken = inner.filter(([file, link]) => {
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? file : join(file, '..', path);
    return (
      !existsSync(join(projectRoot, target)) ||
      (anchor !== undefined && !toAnchors(target).includes(anchor))
    );
  });
  expect(broken).toEqual([]);
});

it('every section that a message or a comment names is there', () => {
  const named = files
    .filter((file) => /^(infra|\.github).*\.(ts|yml)$/.test(file))
    .flatMap((file) => {
      const text = readText(file);
      return [...text.matchAll(/"([^"]+)" in (infra\/\w+\.md)/g)].map(
        ([, heading = '', path = '']) => [file, path, toAnchor(heading)],
      );
    });
  expect(named.length).toBeGreaterThanOrEqual(4);
  const missing = named.filter(([, path = '', anchor = '']) => !toAnchors(path).includes(anchor));
  expect(missing).toEqual([]);
});

function toAnchors(path: string): string[] {
  const text = readText(path).replaceAll(/^ *```.*?^ *```/gms, '');
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => toAnchor(heading));
}

/** As GitHub makes it of a heading. */
function toAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}
