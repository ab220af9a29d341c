import { CHANNEL_TEST_TIMEOUT_MS } from '../../domain/limits.ts'
import { LruCache } from '../../domain/lru-cache.ts'
import type { Channel } from '../../domain/notifications/channel.ts'
import type { AuditLog } from '../../ports/access/audit-log.ts'
import type { EgressPolicy } from '../../ports/http-caller.ts'
import type { ChannelTester, ChannelTestResult } from '../../ports/notifications.ts'
import type { Clock } from '../../ports/runtime.ts'
import type { TeamSettings } from '../../ports/settings.ts'
import { withAudit } from '../audit-trail.ts'
import type { TeamRequest } from '../team-routes.ts'

export interface ChannelTestParts {
  readonly auditLog: AuditLog
  readonly channelTester: ChannelTester
  readonly egress: EgressPolicy
  readonly clock: Clock
}

/** A test may reach a hundred people: each API process takes one of a channel in this time. */
const TEST_INTERVAL_MS = 10_000
/** Channels whose last test an API process remembers. */
const REMEMBERED_TESTS_MAX = 10_000

export interface ChannelTestEnd {
  readonly channel: string
  readonly isSent: boolean
  readonly answer: string
  readonly tookMs: number
}

/** Tests channels, each no more often than TEST_INTERVAL_MS. Owns when each was tested last. */
export class ChannelTests {
  readonly #parts: ChannelTestParts
  readonly #testedAtMs = new LruCache<string, number>(REMEMBERED_TESTS_MAX)

  constructor(parts: ChannelTestParts) {
    this.#parts = parts
  }

  /** The first test of a new channel does not wait for a former one of the same name. */
  runFirst(context: TeamRequest, channel: Channel, settings: TeamSettings): Promise<ChannelTestEnd> {
    this.#testedAtMs.delete(keyOf(context.team, channel))
    return this.run(context, channel, settings)
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
      action: 'test',
      resource: { kind: 'channel', id: null, name },
      before: null,
      change: () => channelTester.requestTest(context.team, name),
      // Without an answer it may have been sent.
      endOf: (result) =>
        result.status === 'busy' ? null : { after: { ok: result.status === 'answered' && result.isSent } },
    })
  }

  /** Why nothing is sent; null = it is. */
  #refusalOf(team: string, channel: Channel, settings: TeamSettings): string | null {
    const { clock, egress } = this.#parts
    const { url } = channel
    const target = url === null ? null : URL.parse(url)
    if (target !== null && egress.refusalOf(target, settings) !== null) {
      return 'The egress policy blocks the host of this channel. Nothing was sent.'
    }
    const key = keyOf(team, channel)
    const nowMs = clock.monotonicMs()
    const lastMs = this.#testedAtMs.get(key)
    if (lastMs !== undefined && nowMs - lastMs < TEST_INTERVAL_MS) {
      return `This channel was tested less than ${TEST_INTERVAL_MS / 1000} s ago. Nothing was sent.`
    }
    this.#testedAtMs.set(key, nowMs)
    return null
  }
}

function keyOf(team: string, { name }: Channel): string {
  return `${team}/${name}`
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
