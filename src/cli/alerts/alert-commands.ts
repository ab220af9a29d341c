import { type Command, Option } from 'commander'
import type { AlertFilter, Inputs } from '../../../clients/typescript/src/client.ts'
import { cliError, MISUSED } from '../cli-error.ts'
import { changing, limitOf, type OutputFlags, paged, type PageFlags, watched } from '../command-options.ts'
import type { CommandRunner } from '../command-runner.ts'
import { wholeNumber } from '../given-number.ts'
import { ALERT_LIST, ALERT_PAGE, DELETED_ALERTS, UNREAD_ALERTS, UPDATED_ALERTS } from './alert-text.ts'

interface FilterFlags {
  readonly type?: string
  readonly reason?: string
  readonly resourceKind?: string
  readonly resourceId?: string
  readonly read?: string
  readonly after?: string
  readonly before?: string
}

interface ListFlags extends PageFlags, FilterFlags {}

interface ManyFlags extends OutputFlags, FilterFlags {
  readonly all?: boolean
}

/** Adds `alerts` and its subcommands; alone it lists. */
export function registerAlertCommands(program: Command, runner: CommandRunner): void {
  const alerts = program.command('alerts').description('list alerts, mark them as read and delete them')
  addReadCommands(alerts, runner)
  addChangeCommands(alerts, runner)
}

function addReadCommands(alerts: Command, runner: CommandRunner): void {
  filtered(paged(alerts.command('list', { isDefault: true })))
    .description('list alerts, newest first')
    .action((flags: ListFlags) => {
      const page = { ...filterOf(flags), limit: limitOf(flags), cursor: flags.cursor }
      return runner.request(flags, (api) => api.send('listAlerts', page), ALERT_LIST)
    })
  watched(alerts.command('show <id>'))
    .description('show an alert and who was told of it')
    .action((id: string, flags: OutputFlags) =>
      runner.request(flags, (api) => api.send('readAlert', { alert_id: id }), ALERT_PAGE),
    )
  watched(alerts.command('counts'))
    .description('count unread alerts')
    .action((flags: OutputFlags) =>
      runner.request(flags, (api) => api.send('countAlerts', {}), UNREAD_ALERTS),
    )
}

function addChangeCommands(alerts: Command, runner: CommandRunner): void {
  many(alerts.command('read [id]'))
    .description('mark one alert as read, or all, or those for which the given filters hold')
    .action((id: string | undefined, flags: ManyFlags) =>
      runner.run(flags, async (api) => {
        if (isOne('read', id, flags)) {
          runner.print(flags, await api.send('markAlertRead', { alert_id: id }), ALERT_PAGE)
        } else {
          const body = filterOf(flags) as AlertFilter
          runner.print(flags, await api.send('markAlertsRead', { body }), UPDATED_ALERTS)
        }
      }),
    )
  many(alerts.command('delete [id]'))
    .description('delete one alert, or all, or those for which the given filters hold')
    .action((id: string | undefined, flags: ManyFlags) =>
      runner.run(flags, async (api) => {
        if (isOne('delete', id, flags)) {
          await api.send('deleteAlert', { alert_id: id })
          runner.report(flags, { name: `alert/${id}`, said: `alert ${id} deleted` })
        } else {
          const selection = { ...filterOf(flags), ...(flags.all === true && { all: true }) }
          runner.print(flags, await api.send('deleteAlerts', selection), DELETED_ALERTS)
        }
      }),
    )
}

function many(command: Command): Command {
  return filtered(changing(command)).option('--all', 'every alert of the team')
}

function filtered(command: Command): Command {
  return command
    .option('--type <type>', 'only warning, failure, recovery or limit_warning')
    .option('--reason <reason>', 'only with this reason, such as timeout')
    .addOption(
      new Option('--resource-kind <kind>', 'only about resources of this kind').choices([
        'queue',
        'cron',
        'team',
      ]),
    )
    .option('--resource-id <id>', 'only about the queue or cron with this id')
    .addOption(new Option('--read <read>', 'only read or only unread ones').choices(['true', 'false']))
    .option('--after <time>', 'only raised last at or after this time, such as 2026-12-24T18:00:00+01:00')
    .option('--before <time>', 'only raised last before this time')
}

function filterOf(flags: FilterFlags): Inputs['listAlerts'] {
  const { type, reason, resourceKind, resourceId, read, after, before } = flags
  const given = {
    type,
    reason,
    resource_kind: resourceKind,
    resource_id: resourceId === undefined ? undefined : wholeNumber('--resource-id', resourceId),
    read: read === undefined ? undefined : read === 'true',
    after,
    before,
  }
  // The API knows which types and reasons there are, and says so.
  return given as Inputs['listAlerts']
}

/** Whether one alert is meant, and not several; a call that leaves it open is misused. */
function isOne(verb: string, id: string | undefined, flags: ManyFlags): id is string {
  const isFiltered = Object.values(filterOf(flags)).some((value) => value !== undefined)
  const ways = [id !== undefined, flags.all === true, isFiltered].filter(Boolean).length
  if (ways === 1) return id !== undefined
  throw cliError(`give an id, filters or --all (see punctual alerts ${verb} --help)`, MISUSED)
}
