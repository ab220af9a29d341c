import { type Command, Option } from 'commander'
import { cliError, MISUSED } from '../cli-error.ts'
import type { CommandRunner } from '../command-runner.ts'
import { bashScript } from './bash-script.ts'
import type { CompletedCommand } from './completed-command.ts'
import { fishScript } from './fish-script.ts'
import { zshScript } from './zsh-script.ts'

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const

export function registerCompletionCommand(program: Command, runner: CommandRunner): void {
  program
    .command('completion <shell>')
    .description('print the completion script for bash, zsh or fish')
    .addHelpText(
      'after',
      `
  bash:  source <(punctual completion bash)            in ~/.bashrc
  zsh:   source <(punctual completion zsh)             in ~/.zshrc, after compinit
  fish:  punctual completion fish | source             in ~/.config/fish/config.fish`,
    )
    .action((shell: string) =>
      runner.local(() => {
        if (!isShell(shell)) throw cliError(`${shell} is not bash, zsh or fish`, MISUSED)
        runner.say(SCRIPTS[shell](program.name(), commandsOf(program, '')))
      }),
    )
}

/** A group without a subcommand takes the options of its default one. */
function defaultOptions(command: Command): readonly Option[] {
  const { _defaultCommandName: name } = command as unknown as { readonly _defaultCommandName?: string | null }
  return command.commands.find((one) => one.name() === name)?.options ?? []
}

function isShell(text: string): text is keyof typeof SCRIPTS {
  return Object.hasOwn(SCRIPTS, text)
}

function commandsOf(command: Command, path: string): CompletedCommand[] {
  const help = new Option('-h, --help', 'display help for command')
  const subcommands = command.commands.map((one) => ({ name: one.name(), description: one.description() }))
  const options = [...command.options, ...defaultOptions(command), help].map((option) => ({
    short: option.short ?? null,
    long: option.long ?? '',
    takesValue: option.required || option.optional,
    choices: option.argChoices ?? [],
    description: option.description,
  }))
  const below = command.commands.flatMap((one) => commandsOf(one, `${path} ${one.name()}`.trim()))
  return [{ path, subcommands, options }, ...below]
}
