import { type ParseArgsConfig, parseArgs } from 'node:util';
import { defineKeyRegister } from '../../../shared/keys/keyRegister.ts';
import { stageHelp } from '../../cli/stageOption.ts';
import { openTable, type TableOptions } from '../../cli/tableOption.ts';
import { UsageError } from '../../cli/usage.ts';
import { type KeyCommand, type KeyOptions, keyCommands } from './keyCommands.ts';

const tableHelp = `Which table:
${stageHelp}
  --endpoint URL --table NAME     an emulator's`;

const flags: Record<string, NonNullable<ParseArgsConfig['options']>[string]> = {
  stage: { type: 'string' },
  endpoint: { type: 'string' },
  table: { type: 'string' },
  name: { type: 'string' },
  permission: { type: 'string' },
  expires: { type: 'string' },
  grace: { type: 'string' },
  json: { type: 'boolean' },
  yes: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
};
const everyCommand = ['stage', 'endpoint', 'table', 'help'];

/** Makes and ends API keys. @throws {UsageError} when what was typed makes no sense */
export async function runKeys([name = '--help', ...rest]: string[]): Promise<void> {
  if (name === '--help' || name === '-h' || name === 'help') return print(toHelp());
  const command = Object.hasOwn(keyCommands, name) ? keyCommands[name] : undefined;
  if (!command) {
    throw new UsageError(
      `There is no command "${name}": it is one of ${Object.keys(keyCommands).join(', ')}.`,
    );
  }
  const { values, positionals } = parseArgs({
    args: rest,
    options: Object.fromEntries(
      [...everyCommand, ...command.options].map((flag) => [
        flag,
        flags[flag] ?? { type: 'string' },
      ]),
    ),
    allowPositionals: true,
  });
  const options = values as TableOptions & KeyOptions & { help?: boolean };
  if (options.help) return print(toCommandHelp(command));
  const keyId = toKeyId(command, positionals);
  command.check?.(options);
  const { client, tableName } = await openTable('ApiKeysTableName', options);
  const register = defineKeyRegister(client, tableName);
  print(await command.run(register, options, keyId));
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
    ({ usage, summary }) => `  ${usage}\n      ${summary}`,
  );
  return `Makes and ends API keys.\n\nnpm run keys -- COMMAND\n\n${commands.join('\n')}\n\n${tableHelp}`;
}

function toCommandHelp({ usage, summary }: KeyCommand): string {
  return `npm run keys -- ${usage}\n\n${summary}\n\n${tableHelp}`;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
