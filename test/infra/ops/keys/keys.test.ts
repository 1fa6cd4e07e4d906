import { DeleteItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { expect, it, onTestFinished, vi } from 'vitest';
import { defineEmulatorClient } from '../../../../infra/cli/tableOption.ts';
import { petstore } from '../../../../infra/petstore.ts';
import { mintApiKey } from '../../../../shared/keys/apiKey.ts';
import { defineKeyRegister } from '../../../../shared/keys/keyRegister.ts';
import { testEngine } from '../../../support/engines.ts';
import { useStoreTables } from '../../../support/storeTables.ts';
import { AwsError, describeStack, type Responses, useAws } from '../aws.ts';
import { callOps, type Outcome, playScenarios, toRow, toScreen } from '../opsProcess.ts';

/**
 * A command as typed, with the labels of key ids: `aaaaaaaaaa` is the key that was made first, and `KEY0` the whole of
 * it. After `<` comes the input of its terminal, after `|` that of a pipe; `>|` is an output that breaks. Or another
 * change.
 */
type Step = string | ((stage: Stage) => unknown);
type Stage = Awaited<ReturnType<typeof open>>;

const tables = useStoreTables(testEngine.start);
const started = Date.parse('2026-11-20T10:00:00Z');
const label = (index: number) => String.fromCharCode(97 + index).repeat(10);

/** A stage without keys. */
async function open() {
  const database = tables.endpoint();
  await database.heal();
  /** The stored parameter with the check's key. */
  const parameter: Record<string, unknown> = {};
  const responses: Responses = {
    ...describeStack('petstore-staging', { ApiKeysTableName: 'apiKeys' }),
    GetParameter({ Name }) {
      expect(Name).toBe('/petstore-staging/check-key');
      if (parameter.Value) return { Parameter: parameter };
      throw new AwsError('ParameterNotFound', '');
    },
    PutParameter(input) {
      expect(input).toMatchObject({ Type: 'SecureString', Overwrite: true });
      return Object.assign(parameter, input);
    },
  };
  const aws = await useAws(responses);
  const variables = { ...aws.variables, AWS_ENDPOINT_URL_DYNAMODB: database.endpoint };
  const direct = defineEmulatorClient(tables.engine().endpoint);
  const register = defineKeyRegister(direct, 'apiKeys');
  const puts = () => database.requests.filter(({ action }) => action === 'PutItem');
  const made = (): string[] => puts().map(({ input }) => input.Item.keyId.S);
  /** Edits the record of the key that was made first; an undefined member goes. */
  async function edit(members: object) {
    const record = { ...(await register.get(made()[0] ?? '')), ...members };
    const Item = marshall(record, { removeUndefinedValues: true });
    await direct.send(new PutItemCommand({ TableName: 'apiKeys', Item }));
  }
  const shown: string[] = [];
  return { database, parameter, responses, variables, direct, puts, made, edit, shown };
}

/** Runs the steps on a stage, a minute each. @returns what `show` makes of each command, with labels */
async function follow(steps: readonly Step[], show: typeof toScreen): Promise<string> {
  const stage = await open();
  const { database, variables, direct, puts, made, shown } = stage;
  let screen = '';
  for (const [minutes, step] of steps.entries()) {
    vi.setSystemTime(started + minutes * 60_000);
    if (typeof step === 'function') {
      await step(stage);
      continue;
    }
    const ids = made();
    const toReal = (text = '') =>
      text
        .replaceAll(/([a-z])\1{9}/g, (one) => ids[one.charCodeAt(0) - 97] ?? one)
        .replaceAll(/KEY(\d)/g, (_, index) => shown[index] ?? '');
    const [line = '', sign, input] = step.split(/ (<|\|)/);
    const [words = '', broken] = line.trim().split(' >|');
    const real = toReal(words);
    const terminal = sign === '<' ? toReal(input) : undefined;
    const typed = sign === '|' ? { piped: toReal(input) } : terminal;
    const args = ['keys', ...real.split(' '), '--stage', 'staging'];
    const unwritable = broken === undefined ? undefined : new Error('write EPIPE');
    const outcome = await callOps(petstore, args, variables, typed, unwritable);
    for (const key of shown) {
      expect(outcome.stdout + outcome.stderr).not.toContain(key.slice(14, 24));
    }
    shown.push(...(outcome.stdout.match(/psk_\w{42}/g) ?? []));
    screen += show(args, outcome);
  }
  for (const { input } of puts()) {
    expect(input.ConditionExpression).toBe('attribute_not_exists(keyId)');
    expect(input.Item.secretHash.S).toMatch(/^[\w-]{43}$/);
    expect(screen).not.toContain(input.Item.secretHash.S);
  }
  const scans = database.requests.filter(({ action }) => action === 'Scan');
  expect(scans.every(({ input }) => input.ConsistentRead)).toBe(true);
  for (const id of made()) {
    await direct.send(new DeleteItemCommand({ TableName: 'apiKeys', Key: { keyId: { S: id } } }));
  }
  direct.destroy();
  const labelled = made().reduce((text, id, index) => text.replaceAll(id, label(index)), screen);
  return labelled.replaceAll(/(psk_\w{10})\w{32,}/g, '$1(SECRET)');
}

/** A row of each key, or one line of a command; what makes a key is shown as a screen. */
function toShort(args: readonly string[], outcome: Outcome): string {
  const [, name] = args;
  if (name === 'create') return '';
  if (name !== 'list') return toRow(args.slice(1, -2), outcome);
  const [, ...rows] = outcome.stdout.trimEnd().split('\n');
  return rows.map((row) => `  ${row.replaceAll(/ +/g, ' ')}\n`).join('');
}

const till = 'create --name till --permission read';
const past = '2026-01-01T00:00:00.000Z';
const failUpdate: Step = ({ database }) =>
  database.fail({ action: 'UpdateItem', fault: 'accessDenied' });
const store =
  (toValue: (stage: Stage) => unknown): Step =>
  (stage) => {
    stage.parameter.Value = toValue(stage);
  };
const own = store(({ shown }) => shown[0]);
const refuseStoring: Step = ({ responses }) => {
  responses.PutParameter = ({ Value }) => {
    throw new AwsError('ValidationException', `Value '${Value}' is not valid`);
  };
};
/** A record that somebody edited by hand. */
const edited = (members: object): Step[] => [
  `${till} --expires 9d`,
  ({ edit }) => edit(members),
  ...['list', 'rotate aaaaaaaaaa', 'revoke aaaaaaaaaa --yes'],
];

const usual: readonly Step[] = [
  ...[`${till} --expires 90d`, 'rotate till --grace 2h', 'list'],
  ...['revoke till --yes <aaaaaaaaaa\n', 'list --json'],
];

/** What is done with the keys of a stage; `keys.txt` has a line of each command, and the keys that `list` shows. */
const scenarios: Readonly<Record<string, readonly Step[]>> = {
  'there are none': ['list', 'revoke aaaaaaaaaa'],
  'an end is a day, or a time': [
    'create --name till --permission write --expires 2027-01-31',
    'create --name till --permission write --expires 2027-01-31T18:00:00+02:00',
    'list',
  ],
  'a terminal obeys no name of the table': [
    till,
    ({ edit }) => edit({ name: 'till\u202e\u001b[2J\u0085\u{e0001}\nforged' }),
    ...['list', 'revoke aaaaaaaaaa <n\n'],
  ],
  'an end of text': edited({ expiresAt: 'yesterday' }),
  'numbers for texts': edited({ expiresAt: 1_796_083_200, name: 5 }),
  'no time of creation': edited({ createdAt: undefined }),
  'a rotation by 1.0.0, which names no successor': [
    till,
    ({ edit }) => edit({ rotatedAt: past }),
    'rotate aaaaaaaaaa <n\n',
  ],
  'the oldest is first, or what ends next': [
    ...[`${till} --expires 13d`, `${till} --expires 15d`, `${till} --expires 2d`, till],
    'rotate dddddddddd --grace 3d',
    ({ database }) => {
      database.pageSize = 2;
    },
    ...['list', 'list --expiring 14d', 'list --expiring 1s'],
  ],
  'a rotated key works for its grace, which another rotation does not extend': [
    ...[`${till} --expires 10d`, 'rotate aaaaaaaaaa --grace 2h', 'rotate bbbbbbbbbb'],
    ...['rotate aaaaaaaaaa --grace 24h --yes', 'list'],
  ],
  'a rotated key ends earlier than its grace': [`${till} --expires 1h`, 'rotate aaaaaaaaaa'],
  'it asks before a second successor': [
    ...[till, 'rotate aaaaaaaaaa', 'rotate aaaaaaaaaa', 'rotate aaaaaaaaaa <n\n', 'list'],
    'rotate aaaaaaaaaa <y\n',
  ],
  'it asks before a rotation without a grace period': [
    ...[till, 'rotate aaaaaaaaaa --grace 0h <\n', 'list', 'rotate aaaaaaaaaa --grace 0h --yes'],
    'list',
  ],
  'the old key could not be ended': [till, failUpdate, 'rotate aaaaaaaaaa', 'list'],
  'nobody saw the key': [till, 'rotate aaaaaaaaaa >|', 'list'],
  'a leaked key is revoked by the key itself, even if it is cut': [
    ...[till, till, 'revoke KEY0 <n\n', 'list', 'revoke KEY0 --yes'],
    ...['revoke psk_KEY1 --yes', 'revoke xKEY1', 'list', 'revoke psk_bbbbbbbbbb… --yes'],
  ],
  'a key is not an argument': [
    ...[till, till, till, 'revoke - --yes |KEY0\n', 'revoke - --yes |bbbbbbbbbb'],
    ...['revoke - --yes |', 'revoke - --yes <KEY2\n', 'rotate - <KEY2\n', 'list'],
  ],
  'a key is revoked by its name': [
    ...[till, 'create --name web --permission write', 'revoke web <n\n', 'revoke web --yes'],
    ...['rotate till', 'revoke till --yes', 'revoke till <xxxxxxxxxx\n', 'revoke till <\n', 'list'],
    ...['rotate till --grace 0s --yes <cccccccccc\n', 'revoke aaaaaaaaaa --yes'],
    ...['revoke till --yes', 'revoke till --yes', 'rotate till', 'revoke nobody --yes'],
  ],
  'no key of a check': ['check', 'check', 'list'],
  'what is no key of a check': [store(() => 'later'), 'check'],
  'a known key of a check with another secret': [
    till,
    store(({ shown }) => mintApiKey(shown[0]?.slice(4, 14)).apiKey),
    'check',
  ],
  'a revoked key of a check': [till, own, 'revoke aaaaaaaaaa --yes', 'check'],
  'a rotated key of a check': [till, own, 'rotate aaaaaaaaaa', 'check'],
  'an expired key of a check': [till, own, ({ edit }) => edit({ expiresAt: past }), 'check'],
  'a write key of a check': ['create --name till --permission write', own, 'check'],
  'a key of a check that works': [till, own, 'check'],
  'a key of a check that cannot be stored': [refuseStoring, 'check', 'list'],
  'a key of a check that can be neither stored nor revoked': [
    ...[refuseStoring, failUpdate, 'check', 'list'],
  ],
};

it('npx petstore keys shows each key once, and says what becomes of it', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const screen = await follow(usual, toScreen);
  const rows = await playScenarios(scenarios, (steps) => follow(steps, toShort));
  await expect(`${screen}\n${rows}`).toMatchFileSnapshot('keys.txt');
});

it('the keys of every page of the table are listed', async () => {
  await tables.endpoint().heal();
  const register = defineKeyRegister(tables.client(), 'apiKeys');
  const made = await Promise.all(
    ['one', 'two', 'three'].map((name) => register.create({ name, permission: 'read' })),
  );
  tables.endpoint().pageSize = 1;
  const listed = (await register.list()).map(({ keyId }) => keyId);
  expect(listed).toEqual(expect.arrayContaining(made.map(({ record }) => record.keyId)));
});

it('an unknown key is neither revoked nor rotated', async () => {
  const register = defineKeyRegister(tables.client(), 'apiKeys');
  await register.revoke('0000000000');
  await expect(register.retire('0000000000', 'successor1', 0)).rejects.toThrow();
  expect(await register.get('0000000000')).toBeUndefined();
});
