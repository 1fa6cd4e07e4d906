import * as cloudformation from '@aws-sdk/client-cloudformation';
import * as deploy from '@aws-sdk/client-codedeploy';
import * as dynamodb from '@aws-sdk/client-dynamodb';
import * as lambda from '@aws-sdk/client-lambda';

/** A line of the AWS CLI as the SDK has it. */
export interface AwsCommand {
  readonly service: string;
  /** Such as `UpdateAlias`. */
  readonly operation: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Sends it to the endpoint, whatever that answers. */
  send(endpoint: string): Promise<void>;
}

type Module = Readonly<Record<string, unknown>>;
const services: Readonly<Record<string, readonly [module: Module, client: string]>> = {
  cloudformation: [cloudformation, 'CloudFormationClient'],
  deploy: [deploy, 'CodeDeployClient'],
  dynamodb: [dynamodb, 'DynamoDBClient'],
  lambda: [lambda, 'LambdaClient'],
};
export const knownServices = Object.keys(services);

/** Options of the CLI itself. */
const own = ['query', 'output'];

/** @throws {Error} when AWS has no such operation, option or waiter, or when one that it needs is missing */
export function parseAwsCommand([, service = '', name = '', ...rest]: string[]):
  | AwsCommand
  | undefined {
  const [module, clientName] = services[service] ?? [];
  if (!module || !clientName) throw new Error(`The test knows no service ${service}.`);
  if (name === 'wait') {
    const waiter = `waitUntil${toPascal(rest[0] ?? '')}`;
    if (!(waiter in module)) throw new Error(`There is nothing to wait for as in ${waiter}.`);
    return undefined;
  }
  const operation = toPascal(name);
  const Command = module[`${operation}Command`] as CommandClass | undefined;
  if (!Command) throw new Error(`${service} has no operation ${operation}.`);
  const { names, required } = toMembers(Command);
  const input = toInput(rest, names);
  const missing = required.filter((member) => !(member in input));
  if (missing.length > 0) throw new Error(`${operation} needs ${missing.join(', ')}.`);
  return {
    service,
    operation,
    input,
    async send(endpoint) {
      const Client = module[clientName] as ClientClass;
      const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
      const client = new Client({ endpoint, region: 'eu-west-1', credentials, maxAttempts: 1 });
      await client.send(new Command(input)).catch(() => {});
      client.destroy();
    },
  };
}

type CommandClass = new (input: unknown) => { readonly schema: readonly unknown[] };
type ClientClass = new (
  settings: unknown,
) => { send(command: unknown): Promise<unknown>; destroy(): void };

/** By the SDK's own schema of the operation's input, in which the members that are a must come first. */
function toMembers(Command: CommandClass): { names: string[]; required: string[] } {
  const { schema } = new Command({});
  const input = (typeof schema[4] === 'function' ? schema[4]() : schema[4]) as readonly unknown[];
  const names = (input[4] as string[]) ?? [];
  return { names, required: names.slice(0, Number(input[6] ?? 0)) };
}

function toInput(words: readonly string[], names: readonly string[]): Record<string, unknown> {
  const input: Record<string, unknown> = {};
  for (let index = 0; index < words.length; index += 1) {
    const option = (words[index] ?? '').replace(/^--/, '');
    const next = words[index + 1];
    const hasValue = next !== undefined && !next.startsWith('--');
    if (hasValue) index += 1;
    if (own.includes(option)) continue;
    const isDenied = option.startsWith('no-');
    const wanted = toPascal(option.replace(/^no-/, '')).toLowerCase();
    const member = names.find((name) => name.toLowerCase() === wanted);
    if (member === undefined) throw new Error(`There is no option --${option}.`);
    input[member] = hasValue ? toValue(next) : !isDenied;
  }
  return input;
}

/** The CLI's shorthand for structures (`A=1,B=2`), numbers, and text. */
function toValue(text: string): unknown {
  if (/^\d+$/.test(text)) return Number(text);
  if (!/^\w+=/.test(text)) return text;
  return Object.fromEntries(
    text.split(',').map((pair) => {
      const [name = '', value = ''] = pair.split('=');
      return [name, /^(true|false)$/.test(value) ? value === 'true' : value === '{}' ? {} : value];
    }),
  );
}

function toPascal(name: string): string {
  return name.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
}
