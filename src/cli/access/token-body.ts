import { type Command, Option } from 'commander'
import { cliError, MISUSED } from '../cli-error.ts'
import type { OutputFlags } from '../command-options.ts'
import { addDataOption, type DataFlags } from '../given-data.ts'
import { TIME_AHEAD, timeAhead } from '../given-time.ts'
import { wholeNumber } from '../given-number.ts'
import type { Given } from '../kind-commands.ts'

interface CreateFlags extends OutputFlags, DataFlags {
  readonly description?: string
  readonly scope?: readonly string[]
  readonly queue?: readonly string[]
  readonly until?: string
  readonly rate?: string
  readonly burst?: string
}

export function addCreateOptions(command: Command): Command {
  const create = command
    .option('--description <text>', 'who uses it')
    .addOption(
      new Option('--scope <scope...>', 'what it may do (default: everything)').choices([
        'push',
        'read',
        'operate',
        'admin',
      ]),
    )
    .option('--queue <name...>', 'the only queues that it may use and see (default: all)')
    .option(
      '--until <time>',
      `when it ends, such as ${TIME_AHEAD} (default: never; users must say, at most 365d)`,
    )
    .option('--rate <count>', 'requests per second that it may send (default: any number)')
    .option('--burst <count>', 'requests that may come at once (default: as --rate)')
  return addDataOption(create)
}

export function newFields({ flags, args, nowMs }: Given<CreateFlags>): object {
  const { description, scope, queue, until, rate, burst } = flags
  if (burst !== undefined && rate === undefined) throw cliError('--burst needs --rate', MISUSED)
  return {
    name: args[0],
    description,
    scopes: scope,
    queues: queue,
    expires_at: timeAhead('--until', until, nowMs()),
    rate_limit: rate === undefined ? undefined : rateOf(rate, burst),
  }
}

function rateOf(rate: string, burst: string | undefined): object {
  return {
    requests_per_second: wholeNumber('--rate', rate),
    burst: burst === undefined ? undefined : wholeNumber('--burst', burst),
  }
}
