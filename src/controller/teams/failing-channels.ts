import type { ChannelHealth } from '../../ports/notifications.ts'
import type { TeamSettingsStatus } from '../../resources/generated/kinds.ts'
import { kubernetesTime } from '../../resources/conditions.ts'
import type { ChannelProblem } from './team-channels.ts'

/** Every message about a failing channel has this text, and no other message does. */
const FAILING = 'has been failing since'

/** Finds the channels that cannot be told at present. An answer contains neither URL nor password. */
export function failingChannels(channels: readonly ChannelHealth[]): readonly ChannelProblem[] {
  return channels.flatMap(({ channel, failingSinceMs, lastAnswer }) => {
    if (failingSinceMs === null) return []
    const message = `Channel ${channel} ${FAILING} ${kubernetesTime(failingSinceMs)}: ${lastAnswer ?? 'no answer'}`
    return [{ reason: 'ChannelFailing' as const, message: /[.!?]$/.test(message) ? message : `${message}.` }]
  })
}

/** Tells whether a status names these channels, and no other, as failing. */
export function showsFailing(
  status: TeamSettingsStatus | undefined,
  failing: readonly ChannelProblem[],
): boolean {
  const shown = status?.conditions?.find(({ type }) => type === 'NotificationsReady')?.message ?? ''
  const named = shown.split(FAILING).length - 1
  return named === failing.length && failing.every(({ message }) => shown.includes(message))
}
