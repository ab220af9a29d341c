import type { Command } from 'commander'
import { type Alert, JsonText } from '../../../clients/typescript/src/client.ts'
import { cliError, MISUSED } from '../cli-error.ts'
import { changing, type OutputFlags } from '../command-options.ts'
import { readAnswer } from '../command-runner.ts'
import type { Api } from '../connection/api.ts'
import { cronIdOf, queueIdOf } from '../connection/named-ids.ts'
import { durationMs } from '../given-time.ts'
import type { CommandTools } from '../kind-commands.ts'
import { onceOf } from '../windows/window-body.ts'
import { WINDOW_PAGE } from '../windows/window-text.ts'
import { MAYBE_ALERT } from './alert-commands.ts'

/** As a window takes it; null = all of the team. */
type Resource = { readonly kind: 'queue' | 'cron'; readonly id: number } | null

interface MuteFlags extends OutputFlags {
  readonly queue?: string
  readonly cron?: string
  readonly all?: true
  readonly for?: string
  readonly until?: string
  readonly reason?: string
}

/** Adds `mute`, which creates a maintenance window. */
export function addMute(alerts: Command, _alert: unknown, { runner, nowMs }: CommandTools): void {
  changing(alerts.command('mute').argument(...MAYBE_ALERT))
    .description(
      'mute the alerts of a queue, a cron, the team or whatever an alert is about, by a window; windows delete ends it early',
    )
    .option('--queue <queue>', 'alerts about this queue, by its name or id')
    .option('--cron <cron>', 'alerts about this cron, by its name or id')
    .option('--all', 'every alert of the team')
    .option('--for <duration>', 'how long, such as 30m, 2h or 1d')
    .option('--until <time>', 'when it ends, as a time or a span from now on, instead of --for')
    .option('--reason <text>', 'a comment')
    .action((id: string | undefined, flags: MuteFlags) =>
      runner.request(
        flags,
        async (api) => {
          const lengthMs = flags.for === undefined ? null : durationMs('--for', flags.for)
          const times = onceOf({ until: flags.until }, lengthMs, { nowMs: nowMs(), isNew: true })
          const resource = await resourceOf(api, id, flags)
          const body = { resource, ...times, action: 'mute', reason: flags.reason }
          return api.send('createWindow', { body: new JsonText(JSON.stringify(body)) })
        },
        WINDOW_PAGE,
      ),
    )
}

async function resourceOf(
  api: Api,
  id: string | undefined,
  { queue, cron, all }: MuteFlags,
): Promise<Resource> {
  if ([id, queue, cron, all].filter((one) => one !== undefined).length !== 1) {
    throw cliError('give exactly one of an id, --queue, --cron and --all', MISUSED)
  }
  if (queue !== undefined) return { kind: 'queue', id: Number(await queueIdOf(api, queue)) }
  if (cron !== undefined) return { kind: 'cron', id: Number(await cronIdOf(api, cron)) }
  if (id === undefined) return null
  const { body } = await api.send('readAlert', { alert_id: id })
  return subjectOf(readAnswer(() => ({ ...body, resource: { ...body.resource } })))
}

/** What an alert is about, as a window takes it. */
function subjectOf({ id: alert, resource: { kind, id, name } }: Alert): Resource {
  if (kind === 'team') throw cliError(`alert ${alert} is about the team: --all mutes all of its alerts`)
  if (id === null)
    throw cliError(`alert ${alert} is about the ${kind} ${name}, which does not exist any more`)
  return { kind, id }
}
