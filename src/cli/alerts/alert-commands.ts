import { type Command, Option } from 'commander'
import type { AlertFilter, Inputs } from '../../../clients/typescript/src/client.ts'
import { cliError, MISUSED } from '../cli-error.ts'
import {
  changing,
  type DestroyFlags,
  destroying,
  type OutputFlags,
  type PageFlags,
  watched,
} from '../command-options.ts'
import { readAnswer } from '../command-runner.ts'
import type { Api } from '../connection/api.ts'
import { plainId } from '../connection/given-ids.ts'
import { cronIdOf, queueIdOf } from '../connection/named-ids.ts'
import { TIME_BACK, timeBack } from '../given-time.ts'
import type { CommandTools } from '../kind-commands.ts'
import { ALERT_PAGE, DELETED_ALERTS, UNREAD_ALERTS, UPDATED_ALERTS } from './alert-text.ts'

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

/** At most so many alerts are counted before they are deleted. */
const COUNTED_MAX = 1000

export const MAYBE_ALERT = [
  '[id]',
  'its id, or alert/<id>',
  (text: string) => plainId('alert', text),
] as const

interface ManyFlags extends DestroyFlags, FilterFlags {
  readonly all?: boolean
}

export function addCounts(alerts: Command, _alert: unknown, { runner }: CommandTools): void {
  watched(alerts.command('counts'))
    .description('count unread alerts')
    .action((flags: OutputFlags) =>
      runner.request(flags, (api) => api.send('countAlerts', {}), UNREAD_ALERTS),
    )
}

export function addRead(alerts: Command, _alert: unknown, { runner, nowMs }: CommandTools): void {
  many(changing(alerts.command('read').argument(...MAYBE_ALERT)))
    .description('mark one alert as read, or all, or those for which the given filters hold')
    .action((id: string | undefined, flags: ManyFlags) =>
      runner.run(flags, async (api) => {
        if (isOne('read', id, flags)) {
          runner.print(flags, await api.send('markAlertRead', { alert_id: id }), ALERT_PAGE)
        } else {
          const body = (await filterOf(api, flags, nowMs())) as AlertFilter
          runner.print(flags, await api.send('markAlertsRead', { body }), UPDATED_ALERTS)
        }
      }),
    )
}

export function addDelete(alerts: Command, _alert: unknown, { runner, nowMs }: CommandTools): void {
  many(destroying(alerts.command('delete').argument(...MAYBE_ALERT)))
    .description('delete one alert, or all, or those for which the given filters hold')
    .action((id: string | undefined, flags: ManyFlags) =>
      runner.run(flags, async (api) => {
        if (isOne('delete', id, flags)) {
          await runner.confirm(flags, () => `Delete alert ${id}?`)
          await api.send('deleteAlert', { alert_id: id })
          runner.report(flags, { name: `alert/${id}`, said: `alert ${id} deleted` })
        } else {
          const filter = await filterOf(api, flags, nowMs())
          await runner.confirm(flags, () => deletionOf(api, filter))
          const selection = { ...filter, ...(flags.all === true && { all: true }) }
          runner.print(flags, await api.send('deleteAlerts', selection), DELETED_ALERTS)
        }
      }),
    )
}

async function deletionOf(api: Api, filter: Inputs['listAlerts']): Promise<string> {
  const { body } = await api.send('listAlerts', { ...filter, limit: COUNTED_MAX })
  return readAnswer(() => {
    const count = body.alerts.length
    const isAll = body.next_cursor === null
    return `Delete ${count}${isAll ? '' : ' or more'} ${count === 1 && isAll ? 'alert' : 'alerts'}?`
  })
}

function many(command: Command): Command {
  return filtered(command).option('--all', 'every alert of the team')
}

/** Whether one alert is meant, and not several; a call that leaves it open is misused. */
function isOne(verb: string, id: string | undefined, flags: ManyFlags): id is string {
  const isFiltered = FILTERS.some((name) => flags[name] !== undefined)
  const ways = [id !== undefined, flags.all === true, isFiltered].filter(Boolean).length
  if (ways === 1) return id !== undefined
  throw cliError(
    `no alerts chosen: give an id, filters or --all (see punctual alerts ${verb} --help)`,
    MISUSED,
  )
}

/** As a list of alerts takes them. */
export const ALERT_FILTERS = {
  add: filtered,
  of: (api: Api, flags: PageFlags & FilterFlags, nowMs: number) => filterOf(api, flags, nowMs),
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
    .option('--after <time>', `only raised last at or after this time, such as ${TIME_BACK}`)
    .option('--before <time>', 'only raised last before this time')
}

async function filterOf(api: Api, flags: FilterFlags, nowMs: number): Promise<Inputs['listAlerts']> {
  const { type, reason, read, after, before } = flags
  const given = {
    type,
    reason,
    ...(await resourceOf(api, flags)),
    read: read === undefined ? undefined : read === 'true',
    after: timeBack('--after', after, nowMs),
    before: timeBack('--before', before, nowMs),
  }
  // The API knows which types and reasons there are, and says so.
  return given as Inputs['listAlerts']
}

async function resourceOf(api: Api, { resourceKind: kind, queue, cron }: FilterFlags): Promise<object> {
  if ([kind, queue, cron].filter((one) => one !== undefined).length > 1)
    throw cliError('--queue, --cron and --resource-kind exclude each other: give one', MISUSED)
  if (queue !== undefined) return { resource_kind: 'queue', resource_id: Number(await queueIdOf(api, queue)) }
  if (cron !== undefined) return { resource_kind: 'cron', resource_id: Number(await cronIdOf(api, cron)) }
  return { resource_kind: kind }
}
