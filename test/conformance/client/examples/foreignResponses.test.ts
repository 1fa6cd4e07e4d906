import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fate, type ForeignResponse, startProxy } from '../../../support/faults/proxy.ts';
import { openLocalTarget } from '../../localTarget.ts';
import { readEntry } from '../../operations/operationSuite.ts';
import { type ConformanceTarget, fixtures, sendUpdate } from '../../target.ts';
import { installed, runSeller, type Seller } from './sellers.ts';

/** Each concurrent test has its own pet. */
const [petId = 0n, ...more] = fixtures.inventory
  .filter(({ status }) => status === 'available')
  .map((entry) => entry.petId);

let target: ConformanceTarget;
beforeAll(async () => {
  target = await openLocalTarget();
});
afterAll(() => target?.close());

const stock = (id: bigint) => sendUpdate(target, id, '{"quantity":5}');
const quantityNow = async (id: bigint) => (await readEntry(target, id)).quantity;

/** Sells a piece by an example behind a proxy that decides about its requests. */
async function sellBehind(
  decide: () => Fate,
  file: Seller,
  id = petId,
  order: string = randomUUID(),
) {
  let requests = 0;
  const proxy = await startProxy(target.baseUrl, () => {
    requests += 1;
    return decide();
  });
  const { stdout, stderr, code } = await runSeller({ ...target, ...proxy }, file, [
    order,
    `${id}:-1`,
  ]).then(
    (output) => ({ stdout: output, stderr: '', code: 0 }),
    (error) => error,
  );
  proxy.close();
  return { stdout, stderr, code, requests };
}

const html = '<html>\u001b[31m Hello</html>';
const noTimeLeft = { headers: { 'Retry-After': '99' }, body: html };
const entries = '[{"petId":0,"quantity":1,"status":"available"}]';
/** What no example may print: control characters, or where its program failed. */
const unprintable = /[^ -~\n]|Traceback/;

describe.each(installed)('%s', (file) => {
  it.each<[string, ForeignResponse]>([
    ['a page with 200', { status: 200, body: html }],
    ['other JSON with 200', { status: 200, body: entries }],
    ['other entries with 200', { status: 200, body: '{"entries":{"petId":0}}' }],
    ['no body with 200', { status: 200 }],
    ['a firewall’s 403', { status: 403, body: html }],
    ['a load balancer’s 404', { status: 404, body: '{"code":"not_found","message":"Gone"}' }],
    ['a proxy’s 401', { status: 401, body: '' }],
    ['a redirect', { status: 302, headers: { Location: '/v1/inventory' } }],
    ['a 409', { status: 409, body: html }],
    ['a 422', { status: 422, body: html }],
    ['a 408 without end', { status: 408, ...noTimeLeft }],
    ['a 429 without end', { status: 429, ...noTimeLeft }],
    ['a 503 without end', { status: 503, ...noTimeLeft }],
  ])('does not know of a sale after %s', async (_, response) => {
    await stock(petId);
    const { stdout, stderr, code, requests } = await sellBehind(() => response, file);
    expect([stdout, code, requests]).toEqual(['', 2, 1]);
    expect(stderr).toContain('It may or may not have happened: run this again.');
    expect(stderr).not.toMatch(unprintable);
    expect(await quantityNow(petId)).toBe(4);
  });

  it('finds out in the next run', async () => {
    await stock(petId);
    const order = randomUUID();
    for (const [fate, expected] of [
      [{ status: 200, body: html }, 2],
      ['passed', 0],
    ] as const) {
      expect((await sellBehind(() => fate, file, petId, order)).code).toBe(expected);
      expect(await quantityNow(petId)).toBe(4);
    }
  });

  it('sends the key to no other server', async () => {
    const keys: unknown[] = [];
    const elsewhere = await startProxy(target.baseUrl, ({ headers }) => {
      keys.push(headers.authorization);
      return 'passed';
    });
    const headers = { Location: `${elsewhere.baseUrl}/inventory/adjustments` };
    for (const status of [302, 308]) {
      expect((await sellBehind(() => ({ status, headers }), file)).stdout).toBe('');
    }
    elsewhere.close();
    expect(keys).toEqual([]);
  });

  it.runIf(existsSync('/proc/self/cmdline'))('shows the key to no other user', async () => {
    const commands: string[] = [];
    await sellBehind(() => {
      commands.push(readCommands());
      return { status: 404, body: html };
    }, file);
    expect(commands).toHaveLength(1);
    expect(commands[0]).toContain(file);
    expect(commands[0]).not.toContain(target.apiKey);
  });

  it.concurrent.each(
    (
      [
        [408, 'soon'],
        [408, undefined],
        [429, 'a date'],
        [503, '1'],
        [503, '0.5'],
      ] as const
    ).map((row, index) => [...row, more[index] ?? 0n] as const),
  )('waits after %i with Retry-After: %s, and sells', async (status, text, id) => {
    let isFirst = true;
    const refuse = (): Fate => {
      isFirst = false;
      // A header has whole seconds. curl gives up if the date has passed.
      const soon = new Date(Date.now() + 2_000).toUTCString();
      const headers = text && { 'Retry-After': text === 'a date' ? soon : text };
      return { status, body: html, ...(headers && { headers }) };
    };
    await stock(id);
    const { code, requests } = await sellBehind(() => (isFirst ? refuse() : 'passed'), file, id);
    expect([code, requests]).toEqual([0, 2]);
    expect(await quantityNow(id)).toBe(4);
  });
});

/** What `ps` shows to every user. */
function readCommands(): string {
  const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return ids.map(readCommand).join('\n');
}

function readCommand(id: string): string {
  try {
    return readFileSync(`/proc/${id}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    // It has ended.
    return '';
  }
}
