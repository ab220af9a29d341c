import type { CompletedCommand, CompletedOption } from './completed-command.ts'

/** Makes a function for bash 3.2 or newer that has all commands in it, so that completing starts no program. */
export function bashScript(program: string, commands: readonly CompletedCommand[]): string {
  const name = `_${program.replaceAll(/\W/g, '_')}`
  return `# Completion of ${program} for bash.
${name}() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" path="" index
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "$path \${COMP_WORDS[index]}" in
${commands
  .slice(1)
  .map(({ path }) => `      ' ${path}') path=' ${path}' ;;\n`)
  .join('')}    esac
  done
  local words=""
  case "$path" in
${commands.map(caseOf).join('')}  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F ${name} ${program}
`
}

function caseOf({ path, subcommands, options }: CompletedCommand): string {
  const words = [...subcommands.map(({ name }) => name), ...options.flatMap(namesOf)]
  const values = options.filter(({ takesValue }) => takesValue).map(valueCase)
  return `    '${path === '' ? '' : ` ${path}`}')
      case "$before" in
${values.join('')}        *) words='${words.join(' ')}' ;;
      esac ;;
`
}

/** After an option with free text nothing is offered but files. */
function valueCase(option: CompletedOption): string {
  return `        ${namesOf(option).join('|')}) words='${option.choices.join(' ')}' ;;\n`
}

function namesOf({ short, long }: CompletedOption): string[] {
  return short === null ? [long] : [short, long]
}
