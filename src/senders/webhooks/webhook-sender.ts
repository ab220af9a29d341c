import { DELIVERY_TIMEOUT_MS } from '../../domain/limits.ts'
import type { ChannelType } from '../../domain/notifications/channel.ts'
import { channelUrlProblem } from '../../domain/notifications/channel-url.ts'
import type { HttpCaller, HttpCallResult } from '../../ports/http-caller.ts'
import type { ChannelDelivery, DeliveryResult } from '../../ports/notifications.ts'
import type { TeamSettings } from '../../ports/settings.ts'
import { discordMessage } from '../messages/discord-message.ts'
import { messageOf } from '../messages/message.ts'
import { slackMessage } from '../messages/slack-message.ts'
import { webhookMessage } from '../messages/webhook-message.ts'
import { answerText } from './answer.ts'
import { retryAfterMs } from './retry-after.ts'

type WebhookType = Exclude<ChannelType, 'email'>

/** Statuses of the 4xx that pass. */
const PASSING = new Set([408, 425, 429])

/** Sends to the three types of channels that have a URL, by the same way out as jobs and callbacks. */
export function createWebhookSender(
  caller: HttpCaller,
): (type: WebhookType, delivery: ChannelDelivery, signal: AbortSignal) => Promise<DeliveryResult> {
  return async (type, delivery, signal) => {
    const { channel, notification, settings, timestampSeconds } = delivery
    const url = channel.url ?? ''
    const problem = channelUrlProblem(type, url, settings.egressAllow)
    if (problem !== null) return failure(problem, { isFinal: true })
    const result = await caller.call(
      {
        team: notification.team,
        // Chat services get no signature: it would only be a sample of the team's secret for strangers.
        settings: type === 'webhook' ? settings : unsigned(settings),
        url: type === 'discord' ? waitingUrl(url) : url,
        method: 'POST',
        headers: {},
        body: bodyOf(type, delivery),
        contentType: 'application/json',
        sought: [],
        timeoutMs: DELIVERY_TIMEOUT_MS,
        webhookId: notification.id,
        timestampSeconds,
        identity: { Depth: '1' },
      },
      signal,
    )
    return resultOf(result, { type, url, nowMs: timestampSeconds * 1_000 })
  }
}

function bodyOf(type: WebhookType, { channel, notification }: ChannelDelivery): string {
  switch (type) {
    case 'slack':
      return slackMessage(messageOf(notification, channel.name))
    case 'discord':
      return discordMessage(messageOf(notification, channel.name))
    case 'webhook':
      return webhookMessage(notification, channel.name)
  }
}

/** URL with `wait`: Discord says only then that it could not store the message. */
function waitingUrl(text: string): string {
  const url = new URL(text)
  url.searchParams.set('wait', 'true')
  return url.href
}

const unsignedSettings = new WeakMap<TeamSettings, TeamSettings>()

/** One object for each settings, as the egress guard remembers what it decided about them. */
function unsigned(settings: TeamSettings): TeamSettings {
  let copy = unsignedSettings.get(settings)
  if (copy === undefined) {
    copy = { ...settings, signingSecrets: [], isSigningUnreadable: false }
    unsignedSettings.set(settings, copy)
  }
  return copy
}

function resultOf(
  result: HttpCallResult,
  { type, url, nowMs }: { readonly type: WebhookType; readonly url: string; readonly nowMs: number },
): DeliveryResult {
  switch (result.kind) {
    case 'aborted':
      return { kind: 'aborted', accepted: [] }
    case 'local_fault':
      return failure(result.message)
    case 'failed':
      return failure(result.message, { isFinal: result.reason === 'invalid_url' })
    case 'answered': {
      const { status } = result
      const answer = answerText(status, result.body, url)
      if (status >= 200 && status < 300) return { kind: 'sent', answer }
      return failure(answer, {
        isFinal: isFinal(type, status),
        retryAfterMs: status === 429 || status === 503 ? retryAfterMs(result, nowMs) : null,
      })
    }
  }
}

/**
 * Chat services refuse a message for good, or say that the webhook is gone. A server of the team's own may answer with
 * the same statuses while it is being deployed.
 */
function isFinal(type: WebhookType, status: number): boolean {
  if (type === 'webhook') return status === 410
  return status >= 300 && status < 500 && !PASSING.has(status)
}

function failure(
  answer: string,
  { isFinal = false, retryAfterMs = null }: { isFinal?: boolean; retryAfterMs?: number | null } = {},
): DeliveryResult {
  return { kind: 'failed', answer, isFinal, retryAfterMs, accepted: [] }
}
