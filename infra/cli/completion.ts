import { parseArgs } from 'node:util';
import { type CommandText, commandNames, commands, type Option } from './commands.ts';
import { writeOut } from './output.ts';
import { UsageError } from './usage.ts';

/** Prints a script that completes commands, options, and the values of options with few. */
export async function printCompletion(args: string[]): Promise<void> {
  const [shell, ...others] = parseArgs({ args, allowPositionals: true }).positionals;
  if ((shell !== 'bash' && shell !== 'zsh') || others.length > 0) {
    throw new UsageError('completion takes bash or zsh: npx petstore completion bash.');
  }
  const start =
    shell === 'zsh' ? 'autoload -Uz compinit bashcompinit; compinit; bashcompinit\n' : '';
  await writeOut(start + toScript());
}

/** A script that both shells run. Other commands of `npx` are completed with file names. */
function toScript(): string {
  const all = Object.entries<CommandText>(commands);
  const words = all.map(([name, { subcommands = {}, options }]) => {
    const next = name === 'help' ? commandNames : Object.keys(subcommands);
    const names = [...Object.keys(options), ...(name === 'help' ? [] : ['help'])];
    return `    ${name}) list="${[...next, ...names.map((one) => `--${one}`)].join(' ')}";;`;
  });
  const options: Record<string, Option> = Object.assign({}, ...all.map(([, one]) => one.options));
  const values = Object.entries(options).flatMap(([option, { choices }]) =>
    choices ? [`    --${option}) list="${choices.join(' ')}";;`] : [],
  );
  return `_petstore() {
  local first=1 list
  if [[ \${COMP_WORDS[0]} == npx ]]; then
    [[ $COMP_CWORD -gt 1 && \${COMP_WORDS[1]} != petstore ]] && return
    first=2
  fi
  if [[ $COMP_CWORD -lt $first ]]; then list="petstore"
  elif [[ $COMP_CWORD -eq $first ]]; then list="${commandNames.join(' ')}"
  else case "\${COMP_WORDS[$first]}" in
${words.join('\n')}
  esac; fi
  case "\${COMP_WORDS[$((COMP_CWORD - 1))]}" in
${values.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$list" -- "\${COMP_WORDS[$COMP_CWORD]}"))
}
complete -o default -F _petstore petstore npx
`;
}
