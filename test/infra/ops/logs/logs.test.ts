import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { LogSource } from '../../../../infra/ops/logs/requestText.ts';
import { petstore } from '../../../../infra/petstore.ts';
import { operationIds } from '../../../../shared/contract/operations.ts';
import { hurryPauses, skipBackOff } from '../../../support/faults/clock.ts';
import { AwsError, describeStack, type Responses, useAws } from '../aws.ts';
import { callOps, defineInterrupt, runOps, toScreen } from '../opsProcess.ts';

type Line = Record<string, unknown>;
type Logged = readonly [source: LogSource, minutesAgo: number, line: Line];

const production = ['--stage', 'production'];
/** Production's logs with some lines and other responses of AWS, and the command on them. */
async function open(
  lines: readonly Logged[] = [],
  change: (responses: Responses) => Responses = () => ({}),
) {
  const logged = [...lines];
  const now = Date.now();
  const responses: Responses = {
    ...describeStack('petstore-production'),
    FilterLogEvents(input) {
      const { logGroupName = '', filterPattern = '', nextToken } = input as Record<string, string>;
      expect(filterPattern.length).toBeLessThan(1_024);
      const matches = definePattern(filterPattern);
      const found = logged
        .map(([source, minutesAgo, line], index) => ({
          group: `/aws/${source === 'gateway' ? 'apigateway/petstore-production' : `lambda/petstore-production-${source}`}`,
          event: {
            eventId: `event-${index}`,
            timestamp: now - minutesAgo * 60_000,
            message: `${JSON.stringify(line)}\n`,
          },
          isFound: matches(line),
        }))
        .filter(({ group, isFound }) => group === logGroupName && isFound)
        .map(({ event }) => event)
        .filter(({ timestamp }) => timestamp >= Number(input.startTime))
        .sort((one, other) => one.timestamp - other.timestamp);
      // The first page is empty, as one of CloudWatch's can be, and the others are of two.
      if (nextToken === undefined) return { events: [], nextToken: '0' };
      const end = Number(nextToken) + 2;
      const events = found.slice(Number(nextToken), end);
      return { events, ...(end < found.length && { nextToken: String(end) }) };
    },
  };
  const aws = await useAws({ ...responses, ...change(responses) });
  const logs = (...args: string[]) =>
    callOps(petstore, ['logs', ...production, ...args], aws.variables);
  return { add: (line: Logged) => logged.push(line), aws, logs };
}

/** Keeps the lines of a function's log from being read. */
const fail =
  (name: string, times = 1_000) =>
  (responses: Responses): Responses => {
    let left = times;
    return {
      FilterLogEvents(input) {
        const fails = String(input.logGroupName).endsWith('getPet') && left > 0;
        if (!fails) return responses.FilterLogEvents?.(input);
        left -= 1;
        throw new AwsError(name, 'why');
      },
    };
  };

function toIds({ stdout, stderr }: { stdout: string; stderr: string }): unknown[] {
  expect(stderr).toBe('');
  return [...stdout.matchAll(/^20\d\d-.* (\S+)$/gm)].map(([, id]) => id);
}

describe('npx petstore logs', () => {
  const key = `psk_0123456789${'s'.repeat(26)}${'c'.repeat(6)}`;
  const path = `/v1/pets/${key}\u001b[2J\u202e\nforged`;
  const refusal = { status: 401, keyName: undefined, refused: 'expired key' };
  const update = { operation: 'updateInventory', writeUnits: 1, keyName: 'till' };
  const day: Logged[] = [
    ['getPet', 3, requestLine('r-5', { ...refusal, clientRequestId: 'theirs' })],
    ['getPet', 9, requestLine('r-1')],
    ['updateInventory', 8, requestLine('r-2', update)],
    ['getPet', 6, errorLine('r-3')],
    ['getPet', 5, requestLine('r-3', { status: 503, broken: true })],
    ['getPet', 4, requestLine('r-4', { clientRequestId: key })],
    ['updateInventory', 2, requestLine('r-6', { ...update, status: 412, failedWrites: 1 })],
    ['gateway', 1, gatewayLine('r-7', { status: '404', gatewayError: 'X', path })],
  ];

  const failed = { status: '502', gatewayError: 'X', functionRequestId: 'lambda-1' };
  /** What was logged, what is typed, and other responses; `requests.txt` has what is seen. */
  const looks: readonly [Logged[], string[], ((responses: Responses) => Responses)?][] = [
    [day, ['', '--json']],
    [[], ['--status 5xx --since 2h', '--request r-9']],
    // A request line that was never written.
    [[['getPet', 5, errorLine('r-1')]], ['--request r-1']],
    [
      [
        ['gateway', 5, gatewayLine('r-1', failed)],
        ['getPet', 8, reportLine('lambda-1', 'platform.start')],
        ['getPet', 7, crashLine('lambda-1')],
        ['getPet', 6, reportLine('lambda-1')],
        ['getPet', 6, crashLine('lambda-2')],
      ],
      ['--request r-1'],
    ],
    // For longer than the SDK retries, and for good.
    [[['getPet', 5, requestLine('r-1')]], [''], fail('ThrottlingException', 3)],
    [day, [''], fail('AccessDeniedException')],
  ];
  it('shows a row for each request of all functions by time, with its errors beneath', async () => {
    onTestFinished(skipBackOff());
    vi.useFakeTimers({ now: Date.parse('2026-12-24T03:04:00Z'), toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const screens: string[] = [];
    for (const [lines, typed, change] of looks) {
      const { logs } = await open(lines, change);
      for (const line of typed) {
        const args = line.split(' ').filter(Boolean);
        screens.push(toScreen(['logs', ...production, ...args], await logs(...args)));
      }
    }
    // The longest name of an operation makes a column wider.
    const screen = screens.join('\n').replaceAll(/(?<=\S) {2,}/g, '  ');
    await expect(screen).toMatchFileSnapshot('requests.txt');
  });

  const till = { keyName: 'till', keyId: '0123456789' };
  const longId = 'c'.repeat(64);
  const many = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((at) => `${at}`.padStart(36, 'm'));
  const logged: Logged[] = [
    ['getPet', 2 * 24 * 60 - 0.5, requestLine('r-2d')],
    ...many.map(
      (id, index): Logged => [
        ...(['getPet', 2_000 - index] as const),
        requestLine(id, { clientRequestId: longId }),
      ],
    ),
    ['getPet', 24 * 60 + 0.5, requestLine('r-1')],
    ['getPet', 24 * 60 - 0.5, requestLine('r-1')],
    ['getPet', 60.5, requestLine('r-61')],
    ['getPet', 59.5, requestLine('r-59', till)],
    ['getPet', 50, errorLine('r-50')],
    ['getPet', 50, requestLine('r-50', { status: 503 })],
    ['getPet', 40, errorLine('r-40')],
    ['getPet', 40, requestLine('r-40', { ...till, status: 500 })],
    ['gateway', 40, gatewayLine('r-40', { status: '500' })],
    ['getPet', 30.5, requestLine('r-31', { status: 404, clientRequestId: 'theirs' })],
    ['gateway', 30.4, gatewayLine('r-31', { status: '404' })],
    ['gateway', 29.5, gatewayLine('g-29', { status: '404', gatewayError: 'anything' })],
    ['gateway', 20, gatewayLine('g-20', { status: '429', gatewayError: 'anything' })],
    ['gateway', 10, gatewayLine('g-10', { status: '502', functionError: 'anything' })],
    ['gateway', 9, gatewayLine('g-9', { functionRequestId: 'x") || ($.status = "404' })],
  ];
  it.each([
    ['', 'r-59 r-50 r-40 r-31 g-29 g-20 g-10', 2],
    ['--since 30m', 'g-29 g-20 g-10', 0],
    ['--since 2d --status 200', `r-2d ${many.join(' ')} r-1 r-1 r-61 r-59`, 0],
    ['--key till', 'r-59 r-40', 1],
    ['--key 0123456789', 'r-59 r-40', 1],
    ['--key storefront-web', 'r-50 r-31', 1],
    ['--status 404', 'r-31 g-29', 0],
    ['--status 5xx', 'r-50 r-40 g-10', 2],
    ['--status 500', 'r-40', 1],
    ['--status 429', 'g-20', 0],
    ['--request r-1', 'r-1', 0],
    ['--request r-40', 'r-40 r-40', 1],
    ['--request theirs', 'r-31 r-31', 0],
    // A client sent it with many requests.
    [`--request ${longId} --since 2d`, many.join(' '), 0],
    // A client put the other id into the gateway's line.
    ['--request g-9', 'g-9', 0],
  ])('finds by "%s" %s, and %i errors', async (typed, ids, errors) => {
    const { logs, aws } = await open(logged);
    const outcome = await logs(...typed.split(' ').filter(Boolean));
    expect(toIds(outcome).join(' ')).toBe(ids);
    expect(outcome.stdout.match(/StoreError/g) ?? []).toHaveLength(errors);
    const asked = aws.calls.some(({ input }) => `${input.logGroupName}`.includes('gateway'));
    expect(asked).toBe(!typed.includes('--key'));
  });

  it('has the status of Ctrl-C before its end', async () => {
    const lines = ['r-1', 'r-2', 'r-3'].map((id): Logged => ['getPet', 5, requestLine(id)]);
    const interrupt = defineInterrupt();
    const { logs } = await open(lines, (responses) => ({
      async FilterLogEvents(input) {
        if (input.nextToken !== '2') return responses.FilterLogEvents?.(input);
        interrupt();
        return new Promise(() => {});
      },
    }));
    const outcome = await logs();
    expect(outcome.stdout).toContain('r-1');
    expect(outcome).toMatchObject({ status: 130, stderr: '' });
  });

  it('ends quietly when its reader leaves, as head does', async () => {
    const { aws } = await open(
      Array.from({ length: 20 }, (_, index) => ['getPet', 25 - index, requestLine(`r-${index}`)]),
    );
    const options = { variables: aws.variables, stdout: 'leaves' } as const;
    const outcome = await runOps(['infra/petstore.js', 'logs', ...production], options);
    expect(outcome).toMatchObject({ status: 141, stderr: '' });
    expect(aws.calls.length).toBeLessThan(6 + 2 * operationIds.length);
  });
});

it('npx petstore logs --follow shows each new line once, and ends with status 0 on Ctrl-C', async () => {
  hurryPauses();
  let looks = 0;
  const interrupt = defineInterrupt();
  const old = ['getPet', 5, requestLine('r-0')] as const;
  const forget = vi.spyOn(Map.prototype, 'delete');
  onTestFinished(() => forget.mockRestore());
  const stage = await open([old, ['getPet', 0, requestLine('r-1')]], (responses) => ({
    FilterLogEvents(input) {
      if (input.nextToken === undefined && String(input.logGroupName).includes('gateway')) {
        looks += 1;
        // The second line is earlier than the first one, which it came after.
        if (looks === 2) stage.add(['getPet', 0.1, requestLine('r-2')]);
      }
      if (looks === 4) interrupt();
      return responses.FilterLogEvents?.(input);
    },
  }));
  const outcome = await stage.logs('--follow', '--since', '10m');
  expect(outcome.status).toBe(0);
  expect(toIds(outcome)).toEqual(['r-0', 'r-1', 'r-2']);
  expect(forget).toHaveBeenCalledWith('event-0');
});

/** The part of CloudWatch's syntax that compares fields, and joins in parentheses as JavaScript does. */
function definePattern(pattern: string): (line: Line) => boolean {
  const condition = pattern
    .replace(/^\{ (.*) \}$/, '$1')
    .replace(/\$\.([\w.]+) (=|>=|<=|!=) ("[^"]*"|\d+)/g, 'compare("$1", "$2", $3)');
  const evaluate = new Function('compare', `return ${condition}`);
  return (line) =>
    evaluate((path: string, operator: string, value: string | number) => {
      const names = path.split('.');
      const field = names.reduce<unknown>((inside, name) => (inside as Line)?.[name], line);
      if (typeof field !== typeof value) return false;
      if (operator === '>=') return Number(field) >= Number(value);
      if (operator === '<=') return Number(field) <= Number(value);
      const wanted = String(value).replaceAll('.', '\\.').replaceAll('*', '.*');
      return new RegExp(`^${wanted}$`).test(String(field)) === (operator === '=');
    });
}

/** A function's line of a request, in Lambda's JSON format. */
function requestLine(requestId: string, fields: Line = {}): Line {
  return toFunctionLine({
    operation: 'getPet',
    requestId,
    status: 200,
    milliseconds: 12,
    readUnits: 0.5,
    writeUnits: 0,
    keyId: 'abcdefghij',
    keyName: 'storefront-web',
    version: '7',
    ...fields,
  });
}

function errorLine(requestId: string): Line {
  const cause = { name: 'TimeoutError', message: 'socket hang up', stack: 'at inner' };
  const error = { name: 'StoreError', message: 'no response', stack: 'at outer', cause };
  return toFunctionLine({ requestId, error });
}

/** What Lambda logs of a function that could not. */
function crashLine(lambdaId: string): Line {
  const message = { errorType: 'Runtime.ExitError', errorMessage: 'exit status 129' };
  return { ...toFunctionLine(message), requestId: lambdaId };
}

/** Lambda's own line of a call; by default its report of a timeout. */
function reportLine(lambdaId: string, type = 'platform.report'): Line {
  const record = { requestId: lambdaId, status: 'timeout', metrics: { durationMs: 28_000 } };
  return { time: '2026-11-20T10:00:00.000Z', type, record };
}

/** The gateway's line of a request, by default of one that reached a function. */
function gatewayLine(requestId: string, fields: Line = {}): Line {
  return {
    requestId,
    sourceIp: '203.0.113.9',
    method: 'GET',
    route: '/pets/{petId}',
    status: '200',
    latency: '20',
    functionError: '-',
    functionRequestId: 'lambda-of-another',
    gatewayError: '-',
    ...fields,
  };
}

function toFunctionLine(message: Line): Line {
  return { timestamp: '2026-11-20T10:00:00.000Z', requestId: 'lambda-id', message };
}
