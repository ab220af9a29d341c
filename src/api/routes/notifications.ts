import type { RequestBody } from '../../contract/fields/json-body.ts'
import type { Router } from 'express'
import { readChannelTest } from '../../contract/requests/notification-request.ts'
import { toWireChannelTest } from '../../contract/responses/notification-wire.ts'
import { CHANNEL_TEST_TIMEOUT_MS } from '../../domain/limits.ts'
import { LruCache } from '../../domain/lru-cache.ts'
import type { Channel } from '../../domain/notifications/channel.ts'
import type { EgressPolicy } from '../../ports/http-caller.ts'
import type { ChannelTester, ChannelTestResult } from '../../ports/notifications.ts'
import type { AuditLog } from '../../ports/audit-log.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import type { TeamSettings, TeamSettingsSource } from '../../ports/settings.ts'
import { answerJson } from '../answers.ts'
import { withAudit } from '../audit-trail.ts'
import type { BodyReader } from '../body-reader.ts'
import { acceptedBody, createTeamRouter, needs, type TeamRequest, withBody } from '../team-routes.ts'

export interface NotificationRouteParts {
  readonly auditLog: AuditLog
  readonly channelTester: ChannelTester
  readonly bodies: BodyReader
  readonly egress: EgressPolicy
  readonly teamSettings: TeamSettingsSource
  readonly clock: Clock
  readonly logger: Logger
}

/** A test may reach a hundred people: each API process takes one of a channel in this time. */
const TEST_INTERVAL_MS = 10_000
/** Channels whose last test an API process remembers. */
const REMEMBERED_TESTS_MAX = 10_000

export function createNotificationRoutes(parts: NotificationRouteParts): Router {
  const tests = new ChannelTests(parts)
  return createTeamRouter({
    '/api/notifications/test': {
      POST: needs('operate', (context) =>
        withBody(context, parts, (body) => test(context, parts, { tests, body })),
      ),
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

interface ChannelTestEnd {
  readonly channel: string
  readonly isSent: boolean
  readonly answer: string
  readonly tookMs: number
}

/** Tests channels, each no more often than TEST_INTERVAL_MS. Owns when each was tested last. */
class ChannelTests {
  readonly #parts: NotificationRouteParts
  readonly #testedAtMs = new LruCache<string, number>(REMEMBERED_TESTS_MAX)

  constructor(parts: NotificationRouteParts) {
    this.#parts = parts
  }

  async run(context: TeamRequest, channel: Channel, settings: TeamSettings): Promise<ChannelTestEnd> {
    const { clock } = this.#parts
    const beganMs = clock.monotonicMs()
    const refusal = this.#refusalOf(context.team, channel, settings)
    const end =
      refusal === null ? endOf(await this.#send(context, channel)) : { isSent: false, answer: refusal }
    return { tookMs: clock.monotonicMs() - beganMs, ...end, channel: channel.name }
  }

  #send(context: TeamRequest, { name }: Channel): Promise<ChannelTestResult> {
    const { auditLog, channelTester } = this.#parts
    return withAudit(auditLog, context, {
      ...{ action: 'test', resource: { kind: 'channel', id: null, name }, before: null },
      change: () => channelTester.requestTest(context.team, name),
      // Without an answer it may have been sent.
      endOf: (result) =>
        result.status === 'busy' ? null : { after: { ok: result.status === 'answered' && result.isSent } },
    })
  }

  /** Why nothing is sent; null = it is. */
  #refusalOf(team: string, { name, url }: Channel, settings: TeamSettings): string | null {
    const { clock, egress } = this.#parts
    const target = url === null ? null : URL.parse(url)
    if (target !== null && egress.refusalOf(target, settings) !== null) {
      return 'The egress policy blocks the host of this channel. Nothing was sent.'
    }
    const key = `${team}/${name}`
    const nowMs = clock.monotonicMs()
    const lastMs = this.#testedAtMs.get(key)
    if (lastMs !== undefined && nowMs - lastMs < TEST_INTERVAL_MS) {
      return `This channel was tested less than ${TEST_INTERVAL_MS / 1000} s ago. Nothing was sent.`
    }
    this.#testedAtMs.set(key, nowMs)
    return null
  }
}

function endOf(result: ChannelTestResult): Omit<ChannelTestEnd, 'channel' | 'tookMs'> & { tookMs?: number } {
  switch (result.status) {
    case 'answered':
      return { isSent: result.isSent, answer: result.answer, tookMs: result.tookMs }
    case 'busy':
      return { isSent: false, answer: 'Another test of this channel is under way.' }
    case 'no_executor':
      return {
        isSent: false,
        answer:
          `Nothing was heard within ${CHANNEL_TEST_TIMEOUT_MS / 1000} s: no executor runs, or earlier messages of the ` +
          'team hold it up. The test may have been sent.',
      }
  }
}
