import { type Command, Option } from 'commander'
import type { DeletedAlerts, UnreadAlerts, UpdatedAlerts } from '../../contract/generated/wire.ts'
import { cliError, MISUSED } from '../cli-error.ts'
import { connected, type OutputFlags, paged, type PageFlags, searchOf } from '../command-options.ts'
import type { CommandRunner } from '../command-runner.ts'
import { wholeNumber } from '../push-body.ts'
import { alertPage, alertTable } from './alert-text.ts'

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
  filtered(paged(connected(alerts.command('list', { isDefault: true }), 'table')))
    .description('list alerts, newest first')
    .action((flags: ListFlags) => {
      const { limit, cursor } = flags
      const path = `/api/alerts${searchOf({ ...filterOf(flags), limit, cursor })}`
      return runner.request(flags, (api) => api.get(path), alertTable)
    })
  connected(alerts.command('show <id>'), 'text')
    .description('show an alert and who was told of it')
    .action((id: string, flags: OutputFlags) =>
      runner.request(flags, (api) => api.get(pathOf(id)), alertPage),
    )
  connected(alerts.command('counts'), 'text')
    .description('count unread alerts')
    .action((flags: OutputFlags) => runner.request(flags, (api) => api.get('/api/alerts/counts'), countLine))
}

function addChangeCommands(alerts: Command, runner: CommandRunner): void {
  many(alerts.command('read [id]'))
    .description('mark one alert as read, or all, or those for which the given filters hold')
    .action((id: string | undefined, flags: ManyFlags) =>
      runner.run(flags, async (api) => {
        if (isOne('read', id, flags)) {
          const text = await api.post(`${pathOf(id)}/read`, '')
          runner.print(flags, text, alertPage)
        } else {
          const text = await api.post('/api/alerts/read', selectionOf(flags))
          runner.print(flags, text, ({ updated }: UpdatedAlerts) => `${alertCount(updated)} marked as read\n`)
        }
      }),
    )
  many(alerts.command('delete [id]'))
    .description('delete one alert, or all, or those for which the given filters hold')
    .action((id: string | undefined, flags: ManyFlags) =>
      runner.run(flags, async (api) => {
        if (isOne('delete', id, flags)) {
          await api.delete(pathOf(id))
          runner.say(flags.output === 'json' ? '' : `alert ${id} deleted\n`)
        } else {
          const all = flags.all === true ? 'true' : undefined
          const text = await api.delete(`/api/alerts${searchOf({ ...filterOf(flags), all })}`)
          runner.print(flags, text, ({ deleted }: DeletedAlerts) => `${alertCount(deleted)} deleted\n`)
        }
      }),
    )
}

function many(command: Command): Command {
  return filtered(connected(command, 'text')).option('--all', 'every alert of the team')
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

function filterOf(flags: FilterFlags): Readonly<Record<string, string | undefined>> {
  const { type, reason, resourceKind, resourceId, read, after, before } = flags
  return { type, reason, resource_kind: resourceKind, resource_id: resourceId, read, after, before }
}

function selectionOf(flags: FilterFlags): string {
  const { resourceId, read } = flags
  return JSON.stringify({
    ...filterOf(flags),
    ...(resourceId !== undefined && { resource_id: wholeNumber('--resource-id', resourceId) }),
    ...(read !== undefined && { read: read === 'true' }),
  })
}

/** Whether one alert is meant, and not several; a call that leaves it open is misused. */
function isOne(verb: string, id: string | undefined, flags: ManyFlags): id is string {
  const isFiltered = Object.values(filterOf(flags)).some((value) => value !== undefined)
  const ways = [id !== undefined, flags.all === true, isFiltered].filter(Boolean).length
  if (ways === 1) return id !== undefined
  throw cliError(`give an id, filters or --all (see punctual alerts ${verb} --help)`, MISUSED)
}

function countLine({ unread, by_type: byType }: UnreadAlerts): string {
  const types = Object.entries(byType).filter(([, count]) => count > 0)
  const each = types.map(([type, count]) => `${type} ${count}`).join(', ')
  return `${unread} unread${each === '' ? '' : `: ${each}`}\n`
}

function alertCount(count: number): string {
  return count === 1 ? '1 alert' : `${count} alerts`
}

function pathOf(id: string): string {
  return `/api/alerts/${encodeURIComponent(id)}`
}
