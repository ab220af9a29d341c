import type { CompletedCommand, CompletedOption } from './completed-command.ts'

/** Makes one `complete` for each command and option. */
export function fishScript(program: string, commands: readonly CompletedCommand[]): string {
  const name = `__${program.replaceAll(/\W/g, '_')}_at`
  return `# Completion of ${program} for fish.
function ${name} --description 'Whether the command line is in this command'
  set -l path
  for word in (commandline -opc)[2..-1]
    switch "$path $word"
${commands
  .slice(1)
  .map(({ path }) => `      case ' ${path}'\n        set path ' ${path}'\n`)
  .join('')}    end
  end
  test "$path" = "$argv[1]"
end
${commands.map((command) => linesOf(program, name, command)).join('')}`
}

function linesOf(program: string, at: string, { path, subcommands, options }: CompletedCommand): string {
  const start = `complete -c ${program} -n "${at} '${path === '' ? '' : ` ${path}`}'"`
  const names = subcommands.map(
    ({ name, description }) => `${start} -f -a ${name} -d ${quoted(description)}\n`,
  )
  return [...names, ...options.map((option) => `${start} ${optionText(option)}\n`)].join('')
}

function optionText({ short, long, takesValue, choices, description }: CompletedOption): string {
  const names = `${short === null ? '' : `-s ${short.slice(1)} `}-l ${long.slice(2)}`
  const value = choices.length > 0 ? ` -x -a ${quoted(choices.join(' '))}` : takesValue ? ' -r' : ' -f'
  return `${names}${value} -d ${quoted(description)}`
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
