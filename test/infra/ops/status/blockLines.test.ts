import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Facts } from '../../../../infra/ops/status/readStatus.ts';
import { stopClient } from '../../../../infra/ops/status/rowCommands.ts';
import { projectRoot } from '../../../../infra/stages/projectRoot.ts';
import { changeProduction } from '../../../support/stageFixtures.ts';
import { openTemporaryFolder } from '../../../support/temporaryFolder.ts';

const { folder, write, toPath } = openTemporaryFolder();

/** In place of the AWS CLI: has one set, which an update with its last token replaces. */
const aws = `
  const { readFileSync, writeFileSync } = require('node:fs');
  const [, operation, ...words] = process.argv.slice(2);
  const set = JSON.parse(readFileSync('set.json', 'utf8'));
  const find = (option) => words[words.indexOf(option) + 1];
  const isMeant = find('--name') === set.name && find('--id') === 'id-' + set.family;
  const output = "Stacks[0].Outputs[?OutputKey=='BlockedV" + set.family + "Id'].OutputValue";
  if (set.isDenied) process.exit(254);
  if (operation === 'describe-stacks') {
    if (find('--stack-name') === 'petstore-production' && find('--query') === output)
      console.log('id-' + set.family);
  } else if (operation === 'get-ip-set' && isMeant) {
    if (find('--query') !== '[LockToken, IPSet.Id, IPSet.Addresses][]') process.exit(252);
    console.log([set.token, find('--id'), ...set.addresses].join('\\t'));
  } else if (operation === 'update-ip-set' && isMeant && find('--lock-token') === set.token) {
    set.addresses = words.slice(words.indexOf('--addresses') + 1).filter((one) => /^[0-9a-f:.]+.\\d+$/.test(one));
    set.token += 'x';
    writeFileSync('set.json', JSON.stringify(set));
  } else process.exit(254);
`;
write('aws.cjs', aws);
write('aws', `#!/bin/sh\nexec '${process.execPath}' '${toPath('aws.cjs')}' "$@"\n`);
chmodSync(toPath('aws'), 0o755);

interface IpSet {
  readonly family?: 4 | 6;
  readonly addresses?: readonly string[];
  readonly isDenied?: boolean;
}

/** The set after these lines were typed one after the other, as into a terminal. */
function type(lines: readonly string[], { family = 4, addresses = [], isDenied }: IpSet = {}) {
  const name = `petstore-production-blocked-v${family}`;
  write('set.json', JSON.stringify({ name, family, token: 'token', addresses, isDenied }));
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` };
  // Bash takes Node.js's pipe for a remote shell's, and would read a ~/.bashrc that puts another `aws` first.
  const words = ['--norc', '-c', `${lines.join('\n')}\ntrue`];
  execFileSync('bash', words, { cwd: folder, env, stdio: 'pipe' });
  return JSON.parse(readFileSync(toPath('set.json'), 'utf8')).addresses;
}

const stage = changeProduction({ firewall: true });

/** The lines of `status`, for an address with many 429s. */
function printFor(address: string, changes: Parameters<typeof changeProduction>[0] = {}) {
  const addresses = [{ name: address, requests: 9, statuses: [{ status: '429', count: 9 }] }];
  const { settings } = changeProduction({ firewall: true, ...changes });
  const facts = { addresses } as unknown as Facts;
  const [advice = '', ...lines] = stopClient(facts, { ...stage, settings }, true);
  return { advice, lines };
}

describe('the two lines that block an address', () => {
  const [, section = ''] = readFileSync(join(projectRoot, 'infra/RUNBOOK.md'), 'utf8').split(
    '## Stop a client\n',
  );
  const [, block = ''] = /```sh\n(.*?)```/s.exec(section) ?? [];
  const ofRunbook = block
    .replaceAll('STAGE', 'production')
    .trim()
    .split(/(?<!\\)\n/);

  it('are those of the runbook, filled in', () => {
    const unwrapped = ofRunbook.map((line) => line.replaceAll(/ *\\\n */g, ' '));
    expect(printFor('203.0.113.7').lines).toEqual(unwrapped);
    expect(unwrapped).toHaveLength(2);
  });

  it('add one after the other, and keep what is there', () => {
    const addresses = ['198.51.100.4/32', '192.0.2.0/24'];
    const lines = [...ofRunbook, ...printFor('203.0.113.8').lines];
    const added = ['203.0.113.7/32', '203.0.113.8/32'];
    expect(type(lines, { addresses })).toEqual([...addresses, ...added]);
  });

  it('change nothing if AWS refuses the first, or if the set has changed since', () => {
    const addresses = ['198.51.100.4/32'];
    expect(type(['set -- other lines', ...ofRunbook], { addresses, isDenied: true })).toEqual(
      addresses,
    );
    const [first = '', second = ''] = ofRunbook;
    const other = printFor('203.0.113.8').lines[1] ?? '';
    expect(type([first, other, second], { addresses })).toEqual([...addresses, '203.0.113.8/32']);
  });

  it.each([
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:1:2:3::', '2001:db8:1:2::/64'],
    ['::1', '0:0:0:0::/64'],
  ])('block of %s its range, %s', (address, range) => {
    expect(printFor(address).lines[1]).toMatch(new RegExp(` ${range}$`));
  });

  it('add a range to an empty set, in the region of the settings', () => {
    const { lines } = printFor('2001:db8::1', { region: 'eu-west-1' });
    expect(lines.join('\n').match(/--region eu-west-1/g)).toHaveLength(3);
    expect(type(lines, { family: 6 })).toEqual(['2001:db8:0:0::/64']);
  });

  it.each([
    ['without a firewall', { firewall: false }],
    ['behind a proxy, whose address has all clients', { baseAddress: 'https://a.example/v1' }],
  ])('are left to the runbook %s', (_, changes) => {
    expect(printFor('203.0.113.7', changes)).toEqual({
      advice: '# If no known client has 203.0.113.7, block it: "Stop a client" in infra/RUNBOOK.md',
      lines: [],
    });
  });
});
