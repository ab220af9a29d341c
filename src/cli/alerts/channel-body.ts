import { type Command, Option } from 'commander'
import { cliError, MISUSED } from '../cli-error.ts'
import type { OutputFlags } from '../command-options.ts'
import { addDataOption, type DataFlags } from '../given-data.ts'
import { readSource } from '../given-source.ts'
import type { Given } from '../kind-commands.ts'

interface EditFlags extends OutputFlags, DataFlags {
  readonly alerts?: readonly string[]
}

interface CreateFlags extends EditFlags {
  readonly type?: string
  readonly url?: string
  /** false = the channel is kept without a test. */
  readonly test: boolean
}

export function addCreateOptions(command: Command): Command {
  const create = command
    .addOption(new Option('--type <type>', 'where it goes').choices(['email', 'slack', 'discord', 'webhook']))
    .option('--url <url>', 'its URL, which is a secret: better @file, or - for standard input')
    .option('--no-test', 'keep it without sending a test message')
  return addDataOption(addAlerts(create, ' (default: all but warnings)'))
}

export function addEditOptions(command: Command): Command {
  return addDataOption(addAlerts(command, ''))
}

function addAlerts(command: Command, otherwise: string): Command {
  return command.addOption(
    new Option('--alerts <type...>', `the alerts that it gets${otherwise}`).choices([
      'warning',
      'failure',
      'recovery',
      'limit_warning',
    ]),
  )
}

export async function newFields({ flags, args, stdin }: Given<CreateFlags>): Promise<object> {
  const { type, url, alerts, test } = flags
  return {
    name: args[0],
    type,
    alert_types: alerts,
    url: url === undefined ? undefined : (await readSource(url, stdin)).trim(),
    ...(test ? {} : { test }),
  }
}

export function editedFields({ flags: { alerts, data } }: Given<EditFlags>): object {
  if (alerts === undefined && data === undefined) {
    throw cliError('no change given (see punctual channels edit --help)', MISUSED)
  }
  return { alert_types: alerts }
}
