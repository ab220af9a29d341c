import type { Router } from 'express'
import type { RequestBody } from '../../contract/fields/json-body.ts'
import { readChannelTest } from '../../contract/requests/notifications/notification-request.ts'
import { toWireChannelTest } from '../../contract/responses/notification-wire.ts'
import type { Logger } from '../../ports/runtime.ts'
import type { TeamSettingsSource } from '../../ports/settings.ts'
import { answerJson } from '../answers.ts'
import type { BodyReader } from '../body-reader.ts'
import { acceptedBody, createTeamRouter, needs, type TeamRequest, withBody } from '../team-routes.ts'
import {
  changeChannel,
  type ChannelRouteParts,
  createChannel,
  listChannels,
  removeChannel,
} from './channel-routes.ts'
import { type ChannelTestParts, ChannelTests } from './channel-tests.ts'

export interface NotificationRouteParts extends ChannelTestParts, ChannelRouteParts {
  readonly bodies: BodyReader
  readonly teamSettings: TeamSettingsSource
  readonly logger: Logger
}

export function createNotificationRoutes(parts: NotificationRouteParts): Router {
  const tests = new ChannelTests(parts)
  return createTeamRouter({
    '/api/notifications/test': {
      POST: needs('operate', (context) =>
        withBody(context, parts, (body) => test(context, parts, { tests, body })),
      ),
    },
    '/api/notification-channels': {
      GET: needs('admin', (context) => listChannels(context, parts)),
      POST: needs('admin', (context) =>
        withBody(context, parts, (body) => createChannel(context, parts, { tests, body })),
      ),
    },
    '/api/notification-channels/:channel_id': {
      PATCH: needs('admin', (context) =>
        withBody(context, parts, (body) => changeChannel(context, parts, body)),
      ),
      DELETE: needs('admin', (context) => removeChannel(context, parts)),
    },
  })
}

async function test(
  context: TeamRequest,
  { teamSettings }: NotificationRouteParts,
  { tests, body }: { readonly tests: ChannelTests; readonly body: RequestBody },
): Promise<void> {
  const { team, response } = context
  const settings = teamSettings.of(team)
  const names = settings.channels.map(({ name }) => name)
  const wanted = acceptedBody(context, readChannelTest(body, names))
  if (wanted === null) return
  const chosen = settings.channels.filter(({ name }) => wanted.channel === null || name === wanted.channel)
  const results = await Promise.all(chosen.map((channel) => tests.run(context, channel, settings)))
  answerJson(response, 200, JSON.stringify({ results: results.map(toWireChannelTest) }))
}
