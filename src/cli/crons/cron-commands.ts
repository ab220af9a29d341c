import type { Command } from 'commander'
import { JsonText } from '../../../clients/typescript/src/client.ts'
import { cliError, MISUSED } from '../cli-error.ts'
import {
  changing,
  connected,
  limitOf,
  listCommand,
  type OutputFlags,
  paged,
  type PageFlags,
  watched,
} from '../command-options.ts'
import type { CommandRunner } from '../command-runner.ts'
import { CRON_ARGUMENT } from '../connection/given-ids.ts'
import { keyOf } from '../connection/header-text.ts'
import { cronIdOf } from '../connection/named-ids.ts'
import { editVersion, withVersion } from '../connection/versioned-edit.ts'
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
import { CREATED_CRON, CRON_LIST, CRON_PAGE, PREVIEW, READ_CRON, RUN_LIST, STARTED_RUN } from './cron-text.ts'

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
  paged(listCommand(crons))
    .description('list crons')
    .action((flags: PageFlags) => {
      const page = { limit: limitOf(flags), cursor: flags.cursor }
      return runner.request(flags, (api) => api.send('listCrons', page), CRON_LIST)
    })
  watched(crons.command('show').argument(...CRON_ARGUMENT))
    .description('show a cron with its next and its last run')
    .action((cron: string, flags: OutputFlags) =>
      runner.request(
        flags,
        async (api) => withVersion(await api.send('readCron', { cron_id: await cronIdOf(api, cron) })),
        READ_CRON,
      ),
    )
  paged(crons.command('runs').argument(...CRON_ARGUMENT))
    .description('list the last ticks and runs of a cron')
    .action((cron: string, flags: PageFlags) =>
      runner.request(
        flags,
        async (api) => {
          const page = { limit: limitOf(flags), cursor: flags.cursor }
          return api.send('listCronRuns', { cron_id: await cronIdOf(api, cron), ...page })
        },
        RUN_LIST,
      ),
    )
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
  addCreateOptions(changing(crons.command('create [name] [expression] [url]')))
    .description('create a cron; the expression has five fields, such as "0 9 * * MON-FRI"')
    .action(
      (
        name: string | undefined,
        expression: string | undefined,
        url: string | undefined,
        flags: CreateFlags,
      ) =>
        runner.request(
          flags,
          async (api) => {
            if (
              (name === undefined || expression === undefined || url === undefined) &&
              flags.data === undefined
            )
              throw cliError('give a name, an expression and a URL, or --data', MISUSED)
            const body = new JsonText(await writeNewCron({ name, expression, url }, flags, stdin))
            return api.send('createCron', { body, idempotency_key: keyOf(flags.idempotencyKey) })
          },
          CREATED_CRON,
        ),
    )
  addEditOptions(changing(crons.command('edit').argument(...CRON_ARGUMENT)))
    .description('change the given settings of a cron')
    .action((cron: string, flags: EditFlags) =>
      runner.request(
        flags,
        async (api) => {
          const text = await writeCronEdit(flags, { api, stdin })
          const id = await cronIdOf(api, cron)
          const body = new JsonText(text)
          return editVersion({
            ...{ what: `cron ${id}`, text, ifMatch: flags.ifMatch },
            read: () => api.send('readCron', { cron_id: id }),
            send: (options) => api.send('editCron', { cron_id: id, body }, options),
          })
        },
        CRON_PAGE,
      ),
    )
}

function addActionCommands(crons: Command, runner: CommandRunner): void {
  changing(crons.command('run').argument(...CRON_ARGUMENT))
    .description('run a cron now, in addition to its ticks')
    .action((cron: string, flags: OutputFlags) =>
      runner.request(
        flags,
        async (api) => api.send('runCron', { cron_id: await cronIdOf(api, cron) }),
        STARTED_RUN,
      ),
    )
  for (const [action, operation] of [
    ['pause', 'pauseCron'],
    ['resume', 'resumeCron'],
  ] as const) {
    changing(crons.command(action).argument(...CRON_ARGUMENT))
      .description(`${action} a cron`)
      .action((cron: string, flags: OutputFlags) =>
        runner.request(
          flags,
          async (api) => api.send(operation, { cron_id: await cronIdOf(api, cron) }),
          CRON_PAGE,
        ),
      )
  }
  changing(crons.command('delete').argument(...CRON_ARGUMENT))
    .description('delete a cron; its runs in flight end normally')
    .action((cron: string, flags: OutputFlags) =>
      runner.run(flags, async (api) => {
        const id = await cronIdOf(api, cron)
        await api.send('deleteCron', { cron_id: id })
        runner.report(flags, { name: `cron/${id}`, said: `cron ${id} deleted` })
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
