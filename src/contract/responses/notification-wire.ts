import type { SecretKeyRef } from '../../domain/access/signing-secret.ts'
import type { Channel } from '../../domain/notifications/channel.ts'
import { timestampOrNull } from '../../domain/timestamp.ts'
import type {
  ChannelState as WireChannelState,
  ChannelTest as WireChannelTest,
  NotificationChannel as WireNotificationChannel,
} from '../../../clients/typescript/src/generated/wire.ts'

/** How a channel does. */
interface Health {
  readonly state: WireChannelState['state']
  /** Unix ms. */
  readonly failingSinceMs: number | null
  readonly lastAnswer: string | null
}

/** @param health absent before the first message */
export function toWireChannel(
  { name, type, alertTypes }: Channel,
  health: Health | undefined,
): WireChannelState {
  return {
    channel: name,
    type,
    alert_types: [...alertTypes],
    state: health?.state ?? 'ok',
    failing_since: timestampOrNull(health?.failingSinceMs ?? null),
    last_answer: health?.lastAnswer ?? null,
  }
}

export function toWireChannelTest(test: {
  readonly channel: string
  readonly isSent: boolean
  readonly answer: string
  readonly tookMs: number
}): WireChannelTest {
  const { channel, isSent, answer, tookMs } = test
  return { channel, ok: isSent, answer, took_ms: Math.round(tookMs) }
}

/** A channel as its settings have it, without its URL. */
export function toWireKeptChannel({
  name,
  type,
  alertTypes,
  secretRef,
}: Omit<Channel, 'url'> & { readonly secretRef: SecretKeyRef | null }): WireNotificationChannel {
  return {
    name,
    type,
    alert_types: [...alertTypes],
    secret_ref: secretRef === null ? null : { name: secretRef.name, key: secretRef.key },
  }
}
