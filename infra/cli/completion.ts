import { type CommandText, commandNames, commands, type Option } from './commands.ts';
import { writeOut } from './output.ts';
import type { Runs } from './program.ts';

/** Print a script that completes commands, options, and the values of options with few. */
export const runs: Runs<typeof commands.completion.subcommands> = {
  bash: () => writeOut(toScript()),
  zsh: () => writeOut(`autoload -Uz compinit bashcompinit; compinit; bashcompinit\n${toScript()}`),
};

/** A script that both shells run. Other commands of `npx` are completed with file names. */
function toScript(): string {
  const all = Object.entries<CommandText>(commands);
  const texts = all.flatMap(([name, text]) => [
    ...Object.entries(text.subcommands ?? {}).map(
      ([word, one]) => [`${name} ${word}`, one] as const,
    ),
    [name, text] as const,
  ]);
  const words = texts.map(([typed, { subcommands = {}, options = {} }]) => {
    const names = [...Object.keys(options), 'help'].map((one) => `--${one}`);
    const list = [...Object.keys(subcommands), ...names].join(' ');
    return `    "${typed} "*) list="${list}";;`;
  });
  const options: Record<string, Option> = Object.assign({}, ...texts.map(([, one]) => one.options));
  // Without a word of ours, the shell offers files: `complete -o default`.
  const values = Object.entries(options)
    .filter(([, { value }]) => value)
    .map(([option, { choices = [] }]) => `    --${option}) list="${choices.join(' ')}";;`);
  return `_petstore() {
  local first=1 list second=
  if [[ \${COMP_WORDS[0]} == npx ]]; then
    [[ $COMP_CWORD -gt 1 && \${COMP_WORDS[1]} != petstore ]] && return
    first=2
  fi
  if [[ $COMP_CWORD -lt $first ]]; then list="petstore"
  elif [[ $COMP_CWORD -eq $first ]]; then list="${commandNames.join(' ')} help"
  else
    [[ $COMP_CWORD -gt $((first + 1)) ]] && second="\${COMP_WORDS[$((first + 1))]} "
    case "\${COMP_WORDS[$first]} $second" in
${words.join('\n')}
    "help "*) list="${commandNames.join(' ')}";;
  esac; fi
  case "\${COMP_WORDS[$((COMP_CWORD - 1))]}" in
${values.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$list" -- "\${COMP_WORDS[$COMP_CWORD]}"))
}
complete -o default -F _petstore petstore npx
`;
}
