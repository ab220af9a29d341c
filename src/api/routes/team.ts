import type { Router } from 'express'
import type { Team as WireTeam } from '../../../clients/typescript/src/generated/wire.ts'
import { toWireChannel } from '../../contract/responses/notification-wire.ts'
import { toWireTeam } from '../../contract/responses/team-wire.ts'
import type { TeamQuotas } from '../../domain/quotas.ts'
import type { ChannelHealthReader } from '../../ports/notifications.ts'
import type { TeamUsageReader } from '../../ports/quotas.ts'
import type { TeamSettingsSource } from '../../ports/settings.ts'
import { answerFresh } from '../answers.ts'
import { createTeamRouter, needs } from '../team-routes.ts'

export interface TeamRouteParts {
  readonly usage: TeamUsageReader
  readonly channelHealth: ChannelHealthReader
  readonly teamSettings: TeamSettingsSource
  quotasOf(team: string): TeamQuotas
}

export function createTeamRoutes({ usage, quotasOf, ...parts }: TeamRouteParts): Router {
  return createTeamRouter({
    '/api/team': {
      GET: needs('read', async (context) => {
        const { team } = context
        const [used, notifications] = await Promise.all([usage.read(team), channelsOf(team, parts)])
        const { headerSecrets, maskedHeaders = [] } = parts.teamSettings.of(team)
        const facts = { quotas: quotasOf(team), usage: used, notifications, headerSecrets, maskedHeaders }
        const body = toWireTeam(team, facts)
        answerFresh(context, JSON.stringify(body))
      }),
    },
  })
}

async function channelsOf(
  team: string,
  { channelHealth, teamSettings }: Pick<TeamRouteParts, 'channelHealth' | 'teamSettings'>,
): Promise<WireTeam['notifications']> {
  const { channels } = teamSettings.of(team)
  if (channels.length === 0) return []
  const known = new Map((await channelHealth.healthOf(team)).map((health) => [health.channel, health]))
  return channels.map((channel) => toWireChannel(channel, known.get(channel.name)))
}
