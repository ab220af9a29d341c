import type { Command } from 'commander'
import { JsonText } from '../../../clients/typescript/src/client.ts'
import {
  changing,
  connected,
  limitOf,
  type OutputFlags,
  paged,
  type PageFlags,
  watched,
} from '../command-options.ts'
import type { CommandRunner } from '../command-runner.ts'
import { keyOf } from '../connection/header-text.ts'
import { wholeNumber } from '../given-number.ts'
import type { Stdin } from '../given-source.ts'
import {
  addCreateOptions,
  addEditOptions,
  type CreateFlags,
  type EditFlags,
  writeCronEdit,
  writeNewCron,
} from './cron-body.ts'
import { CREATED_CRON, CRON_LIST, CRON_PAGE, PREVIEW, RUN_LIST, STARTED_RUN } from './cron-text.ts'

interface PreviewFlags extends OutputFlags {
  readonly zone?: string
  readonly count?: string
}

/** Adds `crons` and its subcommands; alone it lists. */
export function registerCronCommands(program: Command, runner: CommandRunner, stdin: Stdin): void {
  const crons = program.command('crons').description('list and manage crons')
  addReadCommands(crons, runner)
  addEditCommands(crons, runner, stdin)
  addActionCommands(crons, runner)
}

function addReadCommands(crons: Command, runner: CommandRunner): void {
  paged(crons.command('list', { isDefault: true }))
    .description('list crons')
    .action((flags: PageFlags) => {
      const page = { limit: limitOf(flags), cursor: flags.cursor }
      return runner.request(flags, (api) => api.send('listCrons', page), CRON_LIST)
    })
  watched(crons.command('show <id>'))
    .description('show a cron with its next and its last run')
    .action((id: string, flags: OutputFlags) =>
      runner.request(flags, (api) => api.send('readCron', { cron_id: id }), CRON_PAGE),
    )
  paged(crons.command('runs <id>'))
    .description('list the last ticks and runs of a cron')
    .action((id: string, flags: PageFlags) => {
      const page = { cron_id: id, limit: limitOf(flags), cursor: flags.cursor }
      return runner.request(flags, (api) => api.send('listCronRuns', page), RUN_LIST)
    })
  connected(crons.command('preview <expression>'))
    .description('describe an expression and list its next ticks; creates nothing')
    .option('--zone <zone>', 'time zone of the expression (default: UTC)')
    .option('--count <count>', 'number of ticks, up to 100 (default: 5)')
    .action((expression: string, flags: PreviewFlags) =>
      runner.request(
        flags,
        (api) => api.send('previewCron', { body: previewBody(expression, flags) }),
        PREVIEW,
      ),
    )
}

function addEditCommands(crons: Command, runner: CommandRunner, stdin: Stdin): void {
  addCreateOptions(changing(crons.command('create <name> <expression> <url>')))
    .description('create a cron; the expression has five fields, such as "0 9 * * MON-FRI"')
    .action((name: string, expression: string, url: string, flags: CreateFlags) =>
      runner.request(
        flags,
        async (api) => {
          const body = new JsonText(await writeNewCron({ name, expression, url }, flags, stdin))
          return api.send('createCron', { body, idempotency_key: keyOf(flags.idempotencyKey) })
        },
        CREATED_CRON,
      ),
    )
  addEditOptions(changing(crons.command('edit <id>')))
    .description('change the given settings of a cron')
    .action((id: string, flags: EditFlags) =>
      runner.request(
        flags,
        async (api) => {
          const body = new JsonText(await writeCronEdit(flags, stdin))
          return api.send('editCron', { cron_id: id, body })
        },
        CRON_PAGE,
      ),
    )
}

function addActionCommands(crons: Command, runner: CommandRunner): void {
  changing(crons.command('run <id>'))
    .description('run a cron now, in addition to its ticks')
    .action((id: string, flags: OutputFlags) =>
      runner.request(flags, (api) => api.send('runCron', { cron_id: id }), STARTED_RUN),
    )
  for (const [action, operation] of [
    ['pause', 'pauseCron'],
    ['resume', 'resumeCron'],
  ] as const) {
    changing(crons.command(`${action} <id>`))
      .description(`${action} a cron`)
      .action((id: string, flags: OutputFlags) =>
        runner.request(flags, (api) => api.send(operation, { cron_id: id }), CRON_PAGE),
      )
  }
  changing(crons.command('delete <id>'))
    .description('delete a cron; its runs in flight end normally')
    .action((id: string, flags: OutputFlags) =>
      runner.act(flags, (api) => api.send('deleteCron', { cron_id: id }), {
        name: `cron/${id}`,
        said: `cron ${id} deleted`,
      }),
    )
}

function previewBody(expression: string, { zone, count }: PreviewFlags) {
  return {
    cron_expression: expression,
    ...(zone !== undefined && { time_zone: zone }),
    ...(count !== undefined && { count: wholeNumber('--count', count) }),
  }
}
