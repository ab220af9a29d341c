import type { Channel } from '../../domain/notifications/channel.ts'
import type { ReasonsOf } from '../../resources/conditions.ts'
import {
  channelOf,
  secretFieldOf,
  type ChannelPlan,
  type ChannelUrlPolicy,
} from '../../resources/team-channels.ts'
import type { SecretValues } from '../secrets/secret-values.ts'

/** Says why a channel is left out. Contains nothing of its URL. */
export interface ChannelProblem {
  readonly reason: ReasonsOf['TeamSettings']['NotificationsReady']
  /** Names field and channel. */
  readonly message: string
}

/**
 * Reads the channels that can be used, and says why others cannot, so that one bad Secret holds up nothing else. Throws
 * ResourceApiError.
 */
export async function readChannels(
  secrets: SecretValues,
  plans: readonly ChannelPlan[],
  policy: ChannelUrlPolicy,
): Promise<{ readonly channels: readonly Channel[]; readonly problems: readonly ChannelProblem[] }> {
  const channels: Channel[] = []
  const problems: ChannelProblem[] = []
  for (const [index, plan] of plans.entries()) {
    const bytes = plan.secretRef === null ? null : await secrets.get(plan.secretRef, null)
    const isRead = bytes === null || bytes instanceof Uint8Array
    const check = isRead ? channelOf(plan, bytes, policy) : bytes
    if ('channel' in check) channels.push(check.channel)
    else {
      const message = `${secretFieldOf(index)} (channel ${plan.name}): ${check.message}`
      problems.push({ reason: check.reason, message })
    }
  }
  return { channels, problems }
}
