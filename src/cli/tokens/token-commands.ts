import { type Command, Option } from 'commander'
import { JsonText } from '../../../clients/typescript/src/client.ts'
import { cliError, MISUSED } from '../cli-error.ts'
import {
  changing,
  limitOf,
  listCommand,
  type OutputFlags,
  paged,
  type PageFlags,
} from '../command-options.ts'
import type { CommandRunner } from '../command-runner.ts'
import { plainId } from '../connection/given-ids.ts'
import { addDataOption, type DataFlags, withData } from '../given-data.ts'
import { durationMs } from '../given-duration.ts'
import { wholeNumber } from '../given-number.ts'
import type { Stdin } from '../given-source.ts'
import { CREATED_TOKEN, TOKEN_LIST } from './token-text.ts'

interface CreateFlags extends OutputFlags, DataFlags {
  readonly description?: string
  readonly scope?: readonly string[]
  readonly queue?: readonly string[]
  readonly expiresIn?: string
  readonly expiresAt?: string
  readonly rate?: string
  readonly burst?: string
}

interface TokenTools {
  readonly stdin: Stdin
  readonly nowMs: () => number
}

/** Adds `tokens` and its subcommands; alone it lists. */
export function registerTokenCommands(program: Command, runner: CommandRunner, tools: TokenTools): void {
  const tokens = program.command('tokens').description('list, create and revoke tokens of the API')
  paged(listCommand(tokens))
    .description('list tokens by name, without the tokens themselves')
    .action((flags: PageFlags) => {
      const page = { limit: limitOf(flags), cursor: flags.cursor }
      return runner.request(flags, (api) => api.send('listTokens', page), TOKEN_LIST)
    })
  createCommand(tokens).action((name: string, flags: CreateFlags) =>
    runner.request(
      flags,
      async (api) => {
        const text = await withData(flags.data, bodyOf(name, flags, tools.nowMs()), tools.stdin)
        return api.send('createToken', { body: new JsonText(text) })
      },
      CREATED_TOKEN,
    ),
  )
  changing(
    tokens
      .command('revoke')
      .argument('<name>', 'its name, or token/<name>', (text) => plainId('token', text)),
  )
    .description('revoke a token, which every API refuses within 2 s')
    .action((name: string, flags: OutputFlags) =>
      runner.act(flags, (api) => api.send('deleteToken', { token_id: name }), {
        name: `token/${name}`,
        said: `token ${name} revoked`,
      }),
    )
}

function createCommand(tokens: Command): Command {
  const create = changing(tokens.command('create <name>'))
    .description('create a token, which is shown once; without options it may do all that yours may')
    .option('--description <text>', 'who uses it')
    .addOption(
      new Option('--scope <scope...>', 'what it may do (default: everything)').choices([
        ...['push', 'read', 'operate', 'admin'],
      ]),
    )
    .option('--queue <name...>', 'the only queues that it may use and see (default: all)')
    .option(
      '--expires-in <duration>',
      'how long it lasts, such as 12h or 90d (default: for ever; users must say, at most 365d)',
    )
    .option('--expires-at <time>', 'when it ends, instead of --expires-in')
    .option('--rate <count>', 'requests per second that it may send (default: any number)')
    .option('--burst <count>', 'requests that may come at once (default: as --rate)')
  return addDataOption(create)
}

function bodyOf(name: string, flags: CreateFlags, nowMs: number): string {
  const { description, scope, queue, expiresIn, expiresAt, rate, burst } = flags
  if (expiresIn !== undefined && expiresAt !== undefined) {
    throw cliError('give --expires-in or --expires-at, not both', MISUSED)
  }
  if (burst !== undefined && rate === undefined) throw cliError('--burst goes with --rate', MISUSED)
  return JSON.stringify({
    ...{ name, description, scopes: scope, queues: queue },
    expires_at:
      expiresIn === undefined
        ? expiresAt
        : new Date(nowMs + durationMs('--expires-in', expiresIn)).toISOString(),
    rate_limit: rate === undefined ? undefined : rateOf(rate, burst),
  })
}

function rateOf(rate: string, burst: string | undefined): object {
  return {
    requests_per_second: wholeNumber('--rate', rate),
    burst: burst === undefined ? undefined : wholeNumber('--burst', burst),
  }
}
