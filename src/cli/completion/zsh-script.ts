import type { CompletedCommand, CompletedOption } from './completed-command.ts'

/** Makes a function for compinit that has all commands in it, with their descriptions. */
export function zshScript(program: string, commands: readonly CompletedCommand[]): string {
  const name = `_${program.replaceAll(/\W/g, '_')}`
  return `#compdef ${program}
# Completion of ${program} for zsh.
${name}() {
  local path_="" index
  local -a offered values
  for ((index = 2; index < CURRENT; index++)); do
    case "$path_ \${words[index]}" in
${commands
  .slice(1)
  .map(({ path }) => `      ' ${path}') path_=' ${path}' ;;\n`)
  .join('')}    esac
  done
  case "$path_" in
${commands.map(caseOf).join('')}  esac
  _describe -t commands command offered
}
compdef ${name} ${program}
`
}

function caseOf({ path, subcommands, options }: CompletedCommand): string {
  const offered = [
    ...subcommands.map(({ name, description }) => quoted(name, description)),
    ...options.flatMap((option) => namesOf(option).map((name) => quoted(name, option.description))),
  ]
  return `    '${path === '' ? '' : ` ${path}`}')
      case "\${words[CURRENT-1]}" in
${options
  .filter(({ takesValue }) => takesValue)
  .map(valueCase)
  .join('')}      esac
      offered=(${offered.join(' ')}) ;;
`
}

function valueCase(option: CompletedOption): string {
  const offer =
    option.choices.length === 0 ? '_files' : `values=(${option.choices.join(' ')}); compadd -a values`
  return `        ${namesOf(option).join('|')}) ${offer}; return ;;\n`
}

function quoted(name: string, description: string): string {
  const text = `${name.replaceAll(':', '\\:')}:${description}`
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function namesOf({ short, long }: CompletedOption): string[] {
  return short === null ? [long] : [short, long]
}
