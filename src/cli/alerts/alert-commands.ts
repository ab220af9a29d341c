import { type Command, Option } from 'commander'
import type { AlertFilter, Inputs } from '../../../clients/typescript/src/client.ts'
import { cliError, MISUSED } from '../cli-error.ts'
import {
  changing,
  limitOf,
  listCommand,
  type OutputFlags,
  paged,
  type PageFlags,
  watched,
} from '../command-options.ts'
import type { CommandRunner } from '../command-runner.ts'
import type { Api } from '../connection/api.ts'
import { idArgument, plainId } from '../connection/given-ids.ts'
import { cronIdOf, queueIdOf } from '../connection/named-ids.ts'
import { ALERT_LIST, ALERT_PAGE, DELETED_ALERTS, UNREAD_ALERTS, UPDATED_ALERTS } from './alert-text.ts'

interface FilterFlags {
  readonly type?: string
  readonly reason?: string
  readonly resourceKind?: 'queue' | 'cron' | 'team'
  readonly queue?: string
  readonly cron?: string
  readonly read?: string
  readonly after?: string
  readonly before?: string
}

const FILTERS = ['type', 'reason', 'resourceKind', 'queue', 'cron', 'read', 'after', 'before'] as const
const MAYBE_ALERT = ['[id]', 'its id, or alert/<id>', (text: string) => plainId('alert', text)] as const

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
  filtered(paged(listCommand(alerts)))
    .description('list alerts, newest first')
    .action((flags: ListFlags) =>
      runner.request(
        flags,
        async (api) => {
          const page = { limit: limitOf(flags), cursor: flags.cursor }
          return api.send('listAlerts', { ...(await filterOf(api, flags)), ...page })
        },
        ALERT_LIST,
      ),
    )
  watched(alerts.command('show').argument(...idArgument('alert')))
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
  many(alerts.command('read').argument(...MAYBE_ALERT))
    .description('mark one alert as read, or all, or those for which the given filters hold')
    .action((id: string | undefined, flags: ManyFlags) =>
      runner.run(flags, async (api) => {
        if (isOne('read', id, flags)) {
          runner.print(flags, await api.send('markAlertRead', { alert_id: id }), ALERT_PAGE)
        } else {
          const body = (await filterOf(api, flags)) as AlertFilter
          runner.print(flags, await api.send('markAlertsRead', { body }), UPDATED_ALERTS)
        }
      }),
    )
  many(alerts.command('delete').argument(...MAYBE_ALERT))
    .description('delete one alert, or all, or those for which the given filters hold')
    .action((id: string | undefined, flags: ManyFlags) =>
      runner.run(flags, async (api) => {
        if (isOne('delete', id, flags)) {
          await api.send('deleteAlert', { alert_id: id })
          runner.report(flags, { name: `alert/${id}`, said: `alert ${id} deleted` })
        } else {
          const selection = { ...(await filterOf(api, flags)), ...(flags.all === true && { all: true }) }
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
    .option('--queue <queue>', 'only about this queue, by its name or id')
    .option('--cron <cron>', 'only about this cron, by its name or id')
    .addOption(new Option('--read <read>', 'only read or only unread ones').choices(['true', 'false']))
    .option('--after <time>', 'only raised last at or after this time, such as 2026-12-24T18:00:00+01:00')
    .option('--before <time>', 'only raised last before this time')
}

async function filterOf(api: Api, flags: FilterFlags): Promise<Inputs['listAlerts']> {
  const { type, reason, read, after, before } = flags
  const given = {
    type,
    reason,
    ...(await resourceOf(api, flags)),
    read: read === undefined ? undefined : read === 'true',
    after,
    before,
  }
  // The API knows which types and reasons there are, and says so.
  return given as Inputs['listAlerts']
}

async function resourceOf(api: Api, { resourceKind: kind, queue, cron }: FilterFlags): Promise<object> {
  if ([kind, queue, cron].filter((one) => one !== undefined).length > 1)
    throw cliError('give one of --queue, --cron and --resource-kind', MISUSED)
  if (queue !== undefined) return { resource_kind: 'queue', resource_id: Number(await queueIdOf(api, queue)) }
  if (cron !== undefined) return { resource_kind: 'cron', resource_id: Number(await cronIdOf(api, cron)) }
  return { resource_kind: kind }
}

/** Whether one alert is meant, and not several; a call that leaves it open is misused. */
function isOne(verb: string, id: string | undefined, flags: ManyFlags): id is string {
  const isFiltered = FILTERS.some((name) => flags[name] !== undefined)
  const ways = [id !== undefined, flags.all === true, isFiltered].filter(Boolean).length
  if (ways === 1) return id !== undefined
  throw cliError(`give an id, filters or --all (see punctual alerts ${verb} --help)`, MISUSED)
}
