import { type ParseArgsConfig, parseArgs } from 'node:util';
import { defineKeyRegister } from '../../../shared/keys/keyRegister.ts';
import { print, writeOut } from '../../cli/output.ts';
import { stageHelp } from '../../cli/stageOption.ts';
import { openTable, type TableOptions } from '../../cli/tableOption.ts';
import { UsageError } from '../../cli/usage.ts';
import { type KeyCommand, type KeyOptions, keyCommands } from './keyCommands.ts';

const tableHelp = `Which table:
${stageHelp}
  --endpoint URL --table NAME     an emulator's`;

const texts = ['stage', 'endpoint', 'table', 'name', 'permission', 'expires', 'expiring', 'grace'];
const flags: NonNullable<ParseArgsConfig['options']> = {
  ...Object.fromEntries(texts.map((name) => [name, { type: 'string' as const }])),
  json: { type: 'boolean' },
  yes: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
};
const everyCommand = ['stage', 'endpoint', 'table', 'help'];

/** Makes and ends API keys. */
export async function runKeys([name = '--help', ...rest]: string[]): Promise<void> {
  if (name === '--help' || name === '-h' || name === 'help') return print(toHelp());
  const command = Object.hasOwn(keyCommands, name) ? keyCommands[name] : undefined;
  if (!command) {
    const flag = /^--?([\w-]+)/.exec(name)?.[1];
    if (flag !== undefined && !Object.hasOwn(flags, flag)) {
      throw new UsageError(`Unknown option '${name}'. See --help.`);
    }
    throw new UsageError(
      `There is no command "${name}": it is one of ${Object.keys(keyCommands).join(', ')}.`,
    );
  }
  const { values, positionals } = parseArgs({
    args: rest,
    options: Object.fromEntries(
      Object.entries(flags).filter(([flag]) =>
        [...everyCommand, ...command.options].includes(flag),
      ),
    ),
    allowPositionals: true,
  });
  const options = values as TableOptions & KeyOptions & { help?: boolean };
  if (options.help) return print(toCommandHelp(command));
  const run = command.prepare(options, toKeyId(command, positionals));
  const { client, tableName } = await openTable('ApiKeysTableName', options);
  const register = defineKeyRegister(client, tableName);
  await run(register, (text) => writeOut(`${text}\n`));
}

function toKeyId({ takesKeyId, usage }: KeyCommand, positionals: string[]): string {
  const [keyId = '', ...surplus] = positionals;
  if (surplus.length > 0 || (!takesKeyId && keyId !== '')) {
    throw new UsageError(`Too many words; the command is: npm run keys -- ${usage}`);
  }
  // What is not a key id may be a whole key typed by mistake, so it is not repeated.
  if (takesKeyId && !/^[0-9A-Za-z]{10}$/.test(keyId)) {
    throw new UsageError(
      'KEY_ID must be the 10 letters and digits that list shows, not the key itself.',
    );
  }
  return keyId;
}

function toHelp(): string {
  const commands = Object.values(keyCommands).map(
    ({ usage, summary }) => `  ${usage}\n      ${summary.replaceAll('\n', '\n      ')}`,
  );
  return `Makes and ends API keys.\n\nnpm run keys -- COMMAND\nnpm run -s keys -- COMMAND --json, since npm prints lines of its own otherwise\n\n${commands.join('\n')}\n\n${tableHelp}`;
}

function toCommandHelp({ usage, summary }: KeyCommand): string {
  return `npm run keys -- ${usage}\n\n${summary}\n\n${tableHelp}`;
}
