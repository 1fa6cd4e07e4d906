import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { runLogs } from '../../../../infra/ops/logs/runLogs.ts';
import { stages } from '../../../../infra/stages/stages.ts';
import { skipBackOff } from '../../../support/faults/backOff.ts';
import { type Answers, AwsError, startAws } from '../aws.ts';
import { callOps, runOps, runUnread } from '../opsProcess.ts';
import { crashLine, errorLine, gatewayLine, reportLine, requestLine, startLine } from './lines.ts';
import { defineLogGroups } from './logGroups.ts';

const production = ['--stage', 'production'];
const script = 'infra/ops/logs/logs.ts';
const stops: (() => void)[] = [];
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  for (const stop of stops.splice(0)) stop();
});

/** Production's logs, whose AWS answers some calls otherwise, and the command on them. */
async function open(change: (answers: Answers) => Answers = () => ({})) {
  const groups = defineLogGroups();
  const aws = await startAws({ ...groups.answers, ...change(groups.answers) });
  stops.push(aws.close);
  const logs = (...args: string[]) => callOps(runLogs, [...production, ...args], aws.variables);
  /** The X-Request-Ids in the rows, in order. */
  const find = async (...args: string[]) => {
    const { stdout, stderr } = await logs(...args);
    expect(stderr).toBe('');
    return [...stdout.matchAll(/^20\d\d-.* (\S+)$/gm)].map(([, id]) => id);
  };
  return { ...groups, aws, logs, find };
}

const minutesAgo = (minutes: number) => Date.now() - minutes * 60_000;

describe('npm run logs', () => {
  it('shows the requests of all functions by time, a row each, in columns', async () => {
    const { write, logs } = await open();
    const at = minutesAgo(1);
    write('getPet', at + 2, requestLine('r-3'));
    write('getPet', at, requestLine('r-1'));
    write(
      'updateInventory',
      at + 1,
      requestLine('r-2', {
        operation: 'updateInventory',
        writeUnits: 1,
        keyName: 'the-till-of-the-shop-in-town',
      }),
    );
    const { status, stdout, stderr } = await logs();
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const rows = stdout.trimEnd().split('\n');
    expect(rows.map((row) => row.split(/ {2,}/))).toEqual([
      ['TIME', 'OPERATION', 'STATUS', 'MS', 'UNITS', 'KEY', 'COMMIT', 'REQUEST'],
      [toTime(at), 'getPet', '200', '12', '0.5r', 'storefront-web', '3f2a9c0d1e2f', 'r-1'],
      [
        ...[toTime(at + 1), 'updateInventory', '200', '12', '0.5r+1w'],
        ...['the-till-of-the-shop-in-town', '3f2a9c0d1e2f', 'r-2'],
      ],
      [toTime(at + 2), 'getPet', '200', '12', '0.5r', 'storefront-web', '3f2a9c0d1e2f', 'r-3'],
    ]);
    expect(rows[3]?.indexOf('3f2a')).toBe(rows[2]?.indexOf('3f2a'));
  });

  it('goes through every page, also past an empty one', async () => {
    const { write, find, aws } = await open();
    const ids = Array.from({ length: 7 }, (_, index) => `r-${index}`);
    for (const [index, id] of ids.entries()) {
      write('listOrders', minutesAgo(9) + index, requestLine(id));
    }
    expect(await find()).toEqual(ids);
    const tokens = aws
      .inputsOf('FilterLogEvents')
      .filter(({ logGroupName }) => String(logGroupName).endsWith('listOrders'))
      .map(({ nextToken }) => nextToken);
    expect(tokens).toEqual([undefined, '0', '2', '4', '6']);
  });

  it.each([
    [[], 60],
    [['--since', '30m'], 30],
    [['--since', '2d'], 2 * 24 * 60],
    [['--request', 'r-1'], 24 * 60],
  ])('looks back as far as %j says', async (options, minutes) => {
    const { write, logs, find } = await open();
    write('getPet', minutesAgo(minutes + 0.5), requestLine('r-1', { commit: 'early' }));
    const { stdout } = await logs(...options);
    expect(stdout).toBe('');
    write('getPet', minutesAgo(minutes - 0.5), requestLine('r-1'));
    expect(await find(...options)).toEqual(['r-1']);
  });

  it('finds the requests of a key, by its name or its id, and their errors alone', async () => {
    const { write, logs, find, aws } = await open();
    const other = { keyName: 'till', keyId: '0123456789' };
    write('getPet', minutesAgo(5), errorLine('r-1'));
    write('getPet', minutesAgo(5), requestLine('r-1', { status: 503 }));
    write('getPet', minutesAgo(4), errorLine('r-2'));
    write('getPet', minutesAgo(4), requestLine('r-2', { ...other, status: 503 }));
    write('getPet', minutesAgo(3), requestLine('r-3', other));
    write('gateway', minutesAgo(2), gatewayLine('r-4', { status: '429', gatewayError: 'T' }));
    expect(await find('--key', 'storefront-web')).toEqual(['r-1']);
    expect(await find('--key', 'abcdefghij')).toEqual(['r-1']);
    expect(await find('--key', 'till')).toEqual(['r-2', 'r-3']);
    const { stdout } = await logs('--key', 'till', '--since', '210s');
    expect(stdout).not.toContain('StoreError');
    expect(aws.calls.some(({ input }) => String(input.logGroupName).includes('gateway'))).toBe(
      false,
    );
  });

  it('finds the requests with a status, those included that the gateway answered itself', async () => {
    const { write, find } = await open();
    for (const status of [200, 404, 500, 503]) {
      write('getPet', minutesAgo(9) + status, requestLine(`r-${status}`, { status }));
      write('gateway', minutesAgo(8) + status, gatewayLine('r-0', { status: String(status) }));
    }
    for (const status of ['404', '429', '502']) {
      const reason = status === '502' ? 'functionError' : 'gatewayError';
      const fields = { status, [reason]: 'anything' };
      write('gateway', minutesAgo(7) + Number(status), gatewayLine(`g-${status}`, fields));
    }
    expect(await find('--status', '404')).toEqual(['r-404', 'g-404']);
    expect(await find('--status', '5xx')).toEqual(['r-500', 'r-503', 'g-502']);
    expect(await find('--status', '429')).toEqual(['g-429']);
    expect(await find()).toEqual(
      ['r-200', 'r-404', 'r-500', 'r-503'].concat(['g-404', 'g-429', 'g-502']),
    );
  });

  it('puts beneath a request what went wrong, down to the first cause', async () => {
    const { write, logs } = await open();
    write('getPet', minutesAgo(5), errorLine('r-1'));
    write('getPet', minutesAgo(5) + 1, requestLine('r-1', { status: 503, broken: true }));
    const refusal = { status: 401, keyName: undefined, refused: 'expired key' };
    write('getPet', minutesAgo(4), requestLine('r-2', { ...refusal, clientRequestId: 'theirs' }));
    const conflict = { status: 412, writeUnits: 1, failedWrites: 1 };
    write('updateInventory', minutesAgo(4) + 1, requestLine('r-4', conflict));
    const fields = { status: '429', gatewayError: 'THROTTLED', functionError: '-' };
    write('gateway', minutesAgo(3), gatewayLine('r-3', fields));
    const { stdout } = await logs();
    expect(
      stdout
        .replaceAll(/^20.* (\S+)$/gm, '$1')
        .split('\n')
        .slice(1),
    ).toEqual([
      'r-1',
      '    the answer broke off before its end',
      '    StoreError: no answer',
      '    caused by TimeoutError: socket hang up',
      'r-2',
      '    refused: expired key, key id abcdefghij',
      "    the client's id: theirs",
      'r-4',
      '    writes refused by their condition: 1',
      'r-3',
      '    GET /v1/pets/7 from 203.0.113.9: THROTTLED',
      '',
    ]);
  });

  it('prints the lines as they were logged with --json', async () => {
    const { write, logs } = await open();
    const lines = [errorLine('r-1'), requestLine('r-1', { status: 503 }), requestLine('r-2')];
    for (const [index, line] of lines.entries()) write('getPet', minutesAgo(5) + index, line);
    const { stdout } = await logs('--json');
    expect(stdout).toBe(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  });

  it('says on the error output that there was nothing', async () => {
    const { logs } = await open();
    expect(await logs('--status', '5xx', '--since', '2h')).toEqual({
      status: 0,
      stdout: '',
      stderr: 'There were no such requests in the last 2h.\n',
    });
  });

  it('prints no whole key, nor what a terminal would obey', async () => {
    const { write, logs } = await open();
    const key = `psk_0123456789${'s'.repeat(26)}${'c'.repeat(6)}`;
    write('getPet', minutesAgo(5), requestLine('r-1', { clientRequestId: key }));
    const path = `/v1/pets/${key}\u001b[2J\nforged`;
    write('gateway', minutesAgo(4), gatewayLine('r-2', { status: '404', gatewayError: 'X', path }));
    const asText = (await logs()).stdout;
    const asJson = (await logs('--json')).stdout;
    expect(asText + asJson).not.toContain('sss');
    expect(asJson).toContain('psk_0123456789…');
    expect(asText).toContain('/v1/pets/psk_0123456789…?[2J forged from 203');
  });

  it('waits out throttling, for longer than the SDK does by itself', async () => {
    onTestFinished(skipBackOff());
    let refusals = 3;
    const { write, find } = await open((answers) => ({
      FilterLogEvents(input) {
        if (String(input.logGroupName).endsWith('getPet') && refusals > 0) {
          refusals -= 1;
          throw new AwsError('ThrottlingException', 'Rate exceeded');
        }
        return answers.FilterLogEvents?.(input);
      },
    }));
    write('getPet', minutesAgo(5), requestLine('r-1'));
    expect(await find()).toEqual(['r-1']);
  });

  it.each([
    ['AccessDeniedException', 'AWS refuses this'],
    ['ExpiredTokenException', 'The AWS credentials have expired'],
  ])('ends with one line and status 1 at %s', async (name, told) => {
    const { logs } = await open(() => ({
      FilterLogEvents() {
        throw new AwsError(name, 'why');
      },
    }));
    const { status, stdout, stderr } = await logs();
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^${told}[^\\n]+\\n$`));
  });

  it('names a log that is not there, and the region it looked in', async () => {
    const { logs, remove } = await open();
    remove('getPet');
    const { status, stderr } = await logs();
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /^There is no log \/aws\/lambda\/petstore-production-getPet in eu-west-1: [^\n]+\n$/,
    );
  });

  it('looks in the stage’s own region', async () => {
    const { aws, logs } = await open();
    const settings = { ...stages.production.settings, region: 'eu-north-1' };
    const spy = vi.spyOn(stages.production as { settings: object }, 'settings', 'get');
    spy.mockReturnValue(settings);
    await logs();
    spy.mockRestore();
    expect(new Set(aws.calls.map(({ region }) => region))).toEqual(new Set(['eu-north-1']));
  });
});

describe('npm run logs -- --request', () => {
  it('shows what the gateway and the function say of a request, and nothing else', async () => {
    const { write, logs } = await open();
    const at = minutesAgo(90);
    write('updateInventory', at + 1, errorLine('r-1'));
    write('updateInventory', at + 2, requestLine('r-1', { status: 503 }));
    write('updateInventory', at + 2, requestLine('r-2'));
    write('updateInventory', at + 2, errorLine('r-2'));
    write('gateway', at + 3, gatewayLine('r-1', { status: '503' }));
    write('gateway', at + 3, gatewayLine('r-2'));
    const { stdout } = await logs('--request', 'r-1');
    expect(stdout.split('\n').slice(1).map(toPlainRow)).toEqual([
      `${toTime(at + 2)} getPet 503 r-1`,
      '    StoreError: no answer',
      '    caused by TimeoutError: socket hang up',
      `${toTime(at + 3)} gateway 503 r-1`,
      '    GET /v1/pets/7 from 203.0.113.9',
      '',
    ]);
  });

  it('shows an error whose request line was never written', async () => {
    const { write, logs } = await open();
    write('getPet', minutesAgo(5), errorLine('r-1'));
    expect((await logs('--request', 'r-1')).stdout).toContain('StoreError: no answer');
  });

  it('finds a crash and a timeout by Lambda’s id of the call, which the gateway knows', async () => {
    const { write, logs } = await open();
    const fields = { status: '502', gatewayError: 'X', functionRequestId: 'lambda-1' };
    write('gateway', minutesAgo(5), gatewayLine('r-1', fields));
    write('getPet', minutesAgo(6), startLine('lambda-1'));
    write('getPet', minutesAgo(6), crashLine('lambda-1'));
    write('getPet', minutesAgo(6) + 1, reportLine('lambda-1', 'timeout'));
    write('getPet', minutesAgo(6), crashLine('lambda-2'));
    const { stdout } = await logs('--request', 'r-1');
    expect(stdout.match(/^20/gm)).toHaveLength(3);
    expect(stdout.match(/Runtime\.ExitError: exit status 129/g)).toHaveLength(1);
    expect(stdout).toMatch(/ getPet +- +28000 .*\n {4}Lambda: timeout\n/);
    expect(stdout).toMatch(
      /ExitError[\s\S]+Lambda: timeout[\s\S]+GET \/v1\/pets\/7 from 203.0.113.9: X\n/,
    );
  });

  it('takes a client’s own id, by which it finds ours', async () => {
    const { write, find } = await open();
    write('getPet', minutesAgo(5), requestLine('r-1', { clientRequestId: 'theirs' }));
    write('gateway', minutesAgo(4), gatewayLine('r-1'));
    write('gateway', minutesAgo(4), gatewayLine('r-2'));
    expect(await find('--request', 'theirs')).toEqual(['r-1', 'r-1']);
  });

  it('takes an id that a client sent with many requests', async () => {
    const { write, find } = await open();
    const clientRequestId = 'c'.repeat(64);
    const ids = Array.from({ length: 9 }, (_, index) => `${index}`.padStart(36, 'r'));
    for (const [index, id] of ids.entries()) {
      write('getPet', minutesAgo(9) + index, requestLine(id, { clientRequestId }));
    }
    expect(await find('--request', clientRequestId)).toEqual(ids);
  });

  it('asks for no id that a client has put into the gateway’s line', async () => {
    const { write, find } = await open();
    const functionRequestId = 'x") || ($.status = "200';
    write('gateway', minutesAgo(5), gatewayLine('r-1', { functionRequestId }));
    expect(await find('--request', 'r-1')).toHaveLength(1);
  });

  it('says that no log has it, with status 1 and how to look further', async () => {
    const { logs } = await open();
    const { status, stdout, stderr } = await logs('--request', 'r-9');
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^No log has the request r-9 in the last 1d\. [^\n]+--since 7d\.\n$/);
  });
});

describe('npm run logs -- --follow', () => {
  it('shows each line that comes once', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], fakeNodeBuiltins: true });
    const at = Date.now();
    let looks = 0;
    const { write, logs } = await open((answers) => ({
      FilterLogEvents(input) {
        if (input.nextToken === undefined && String(input.logGroupName).includes('gateway')) {
          looks += 1;
          // The second line is earlier than the first one, which it came after.
          if (looks === 2) write('getPet', at - 1_000, requestLine('r-2'));
        }
        if (looks === 4) throw new AwsError('AccessDeniedException', 'enough');
        return answers.FilterLogEvents?.(input);
      },
    }));
    write('getPet', at, requestLine('r-1'));
    // The pauses between the looks pass a hundred times as fast.
    const clock = setInterval(() => vi.advanceTimersByTime(200), 2);
    stops.push(() => clearInterval(clock));
    const { status, stdout, stderr } = await logs('--follow');
    expect([...stdout.matchAll(/ (r-\d)$/gm)].map(([, id]) => id)).toEqual(['r-1', 'r-2']);
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringMatching(/^AWS refuses/),
    });
  });

  it('ends well at Ctrl-C', async () => {
    const { write, aws } = await open();
    write('getPet', Date.now(), requestLine('r-1'));
    const { status, stdout, stderr } = await runOps(script, [...production, '--follow'], {
      variables: aws.variables,
      // Once it has looked, and waits to look again.
      onStart: (child) =>
        child.stdout?.once('data', () => setTimeout(() => child.kill('SIGINT'), 200)),
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/ r-1$/m);
  });
});

describe('npm run logs, as a process', () => {
  it('says at Ctrl-C that it did not come to its end', async () => {
    const { write, aws } = await open((answers) => ({
      async FilterLogEvents(input) {
        if (input.nextToken === '2') await new Promise(() => {});
        return answers.FilterLogEvents?.(input);
      },
    }));
    for (const id of ['r-1', 'r-2', 'r-3']) write('getPet', minutesAgo(5), requestLine(id));
    const { status, stdout, stderr } = await runOps(script, production, {
      variables: aws.variables,
      onStart: (child) => child.stdout?.once('data', () => child.kill('SIGINT')),
    });
    expect(stdout).toContain('r-1');
    expect({ status, stderr }).toEqual({
      status: 130,
      stderr: 'Interrupted: there may be more.\n',
    });
  });

  it('ends quietly when its reader leaves, as head does', async () => {
    const { write, aws } = await open();
    for (let index = 0; index < 20; index += 1) {
      write('getPet', minutesAgo(5) + index, requestLine(`r-${index}`));
    }
    const outcome = await runUnread(script, production, 'atFirst', aws.variables);
    expect(outcome).toEqual({ status: 141, stderr: '' });
    expect(aws.calls.length).toBeLessThan(14);
  });

  it.each([
    [[], '--stage must be'],
    [['--stage', 'nowhere'], '--stage must be'],
    [[...production, '--request', 'a b'], '--request must be'],
    [[...production, '--request', `psk_${'x'.repeat(42)}`], '--request must be'],
    [[...production, '--request', 'r-1', '--follow'], '--request finds one request'],
    [[...production, '--request', 'r-1', '--status', '5xx'], '--request finds one request'],
    [[...production, '--key', 'a"b'], '--key must be'],
    [[...production, '--key', `psk_${'x'.repeat(42)}`], '--key must be'],
    [[...production, '--status', '6xx'], '--status must be'],
    [[...production, '--status', '50x'], '--status must be'],
    [[...production, '--since', 'yesterday'], '--since must be'],
    [[...production, 'surplus'], 'surplus'],
  ])('refuses %j with one clear line and status 2', async (args, message) => {
    const { status, stdout, stderr } = await callOps(runLogs, args);
    expect(stderr).toContain(message);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(stderr).not.toContain('xxx');
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  });

  it('explains itself', async () => {
    const { status, stdout } = await callOps(runLogs, ['--help']);
    expect(status).toBe(0);
    for (const option of ['request', 'key', 'status', 'since', 'follow', 'json']) {
      expect(stdout).toContain(`\n  --${option}`);
    }
  });
});

function toTime(at: number): string {
  return new Date(at).toISOString().replace('T', ' ');
}

/** A row's time, operation, status and X-Request-Id. */
function toPlainRow(row: string): string {
  const cells = row.split(/ {2,}/);
  return cells.length < 8 ? row : [...cells.slice(0, 3), cells.at(-1)].join(' ');
}
