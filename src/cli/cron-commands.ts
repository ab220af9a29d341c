import type { Command } from 'commander'
import type { CreatedCron, StartedRun } from '../contract/generated/wire.ts'
import type { ApiConnection } from './api-connection.ts'
import { connected, type OutputFlags, paged, type PageFlags, searchOf } from './command-options.ts'
import type { CommandRunner } from './command-runner.ts'
import {
  addCreateOptions,
  addEditOptions,
  type CreateFlags,
  type EditFlags,
  writeCronEdit,
  writeNewCron,
} from './cron-body.ts'
import { cronPage, cronTable, previewText, runTable } from './cron-text.ts'
import { idempotencyHeader } from './header-text.ts'
import { type Stdin, wholeNumber } from './push-body.ts'

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
  paged(connected(crons.command('list', { isDefault: true }), 'table'))
    .description('list crons')
    .action((flags: PageFlags) =>
      runner.request(flags, (api) => api.get(`/api/crons${pageSearch(flags)}`), cronTable),
    )
  connected(crons.command('show <id>'), 'text')
    .description('show a cron with its next and its last run')
    .action((id: string, flags: OutputFlags) => runner.request(flags, (api) => api.get(pathOf(id)), cronPage))
  paged(connected(crons.command('runs <id>'), 'table'))
    .description('list the last ticks and runs of a cron')
    .action((id: string, flags: PageFlags) => {
      const path = `${pathOf(id)}/runs${pageSearch(flags)}`
      return runner.request(flags, (api) => api.get(path), runTable)
    })
}

function addEditCommands(crons: Command, runner: CommandRunner, stdin: Stdin): void {
  addCreateOptions(connected(crons.command('create <name> <expression> <url>'), 'text'))
    .description('create a cron; the expression has five fields, such as "0 9 * * MON-FRI"')
    .action((name: string, expression: string, url: string, flags: CreateFlags) => {
      const create = async (api: ApiConnection): Promise<string> => {
        const body = await writeNewCron({ name, expression, url }, flags, stdin)
        return api.post('/api/crons', body, idempotencyHeader(flags.idempotencyKey))
      }
      return runner.request(flags, create, createdLine)
    })
  addEditOptions(connected(crons.command('edit <id>'), 'text'))
    .description('change the given settings of a cron')
    .action((id: string, flags: EditFlags) =>
      runner.request(
        flags,
        async (api) => api.patch(pathOf(id), await writeCronEdit(flags, stdin)),
        cronPage,
      ),
    )
  connected(crons.command('preview <expression>'), 'text')
    .description('describe an expression and list its next ticks; creates nothing')
    .option('--zone <zone>', 'time zone of the expression (default: UTC)')
    .option('--count <count>', 'number of ticks, up to 100 (default: 5)')
    .action((expression: string, flags: PreviewFlags) =>
      runner.request(
        flags,
        async (api) => api.post('/api/crons/preview', previewBody(expression, flags)),
        previewText,
      ),
    )
}

function addActionCommands(crons: Command, runner: CommandRunner): void {
  connected(crons.command('run <id>'), 'text')
    .description('run a cron now, in addition to its ticks')
    .action((id: string, flags: OutputFlags) =>
      runner.request(flags, (api) => api.post(`${pathOf(id)}/run`, ''), startedLine),
    )
  for (const action of ['pause', 'resume']) {
    connected(crons.command(`${action} <id>`), 'text')
      .description(`${action} a cron`)
      .action((id: string, flags: OutputFlags) =>
        runner.request(flags, (api) => api.post(`${pathOf(id)}/${action}`, ''), cronPage),
      )
  }
  connected(crons.command('delete <id>'), 'text')
    .description('delete a cron; its runs in flight end normally')
    .action((id: string, flags: OutputFlags) =>
      runner.run(flags, async (api) => {
        await api.delete(pathOf(id))
        runner.say(flags.output === 'json' ? '' : `cron ${id} deleted\n`)
      }),
    )
}

function previewBody(expression: string, { zone, count }: PreviewFlags): string {
  return JSON.stringify({
    cron_expression: expression,
    ...(zone !== undefined && { time_zone: zone }),
    ...(count !== undefined && { count: wholeNumber('--count', count) }),
  })
}

function createdLine({ id, next_run_at: next }: CreatedCron): string {
  return next === null ? `cron ${id}, paused\n` : `cron ${id}, next run at ${next}\n`
}

function startedLine(started: StartedRun): string {
  return `job ${started.job_id} of cron ${started.cron_id}\n`
}

function pageSearch({ limit, cursor }: PageFlags): string {
  return searchOf({ limit, cursor })
}

function pathOf(id: string): string {
  return `/api/crons/${encodeURIComponent(id)}`
}
