import { QUOTA_NAMES } from '../../domain/quotas.ts'
import type { Informer, ObjectKey } from '../../ports/kubernetes.ts'
import type { ChannelHealthReader } from '../../ports/notifications.ts'
import type { TeamStats, TeamUsage } from '../../ports/quotas.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import { isSameStatus } from '../../resources/conditions.ts'
import type { TeamSettingsStatus } from '../../resources/generated/kinds.ts'
import { parseKey } from '../../resources/queue-owner.ts'
import { channelPlansOf } from '../../resources/team-channels.ts'
import { keyOf, type TeamSettings } from '../kinds.ts'
import { StatusSync } from '../reconcile/status-sync.ts'
import { failingChannels, showsFailing } from './failing-channels.ts'
import type { ChannelProblem } from './team-channels.ts'

export interface TeamStatusSyncParts {
  readonly informer: Pick<Informer<TeamSettings>, 'all' | 'get'>
  readonly teamStats: TeamStats
  readonly channelHealth: ChannelHealthReader
  readonly enqueue: (key: ObjectKey) => void
  readonly clock: Clock
  readonly logger: Logger
}

/** A smaller change, relative to the usage shown or to the quota, is written only once the usage is stable. */
const SMALL_CHANGE = 0.01
/** Usage is stable after this long without a change. It is less than a sync, because clocks tick unevenly. */
const STABLE_MS = 10_000
/** Usage that never becomes stable is written this often. */
const WRITTEN_EVERY_MS = 300_000

interface Sample {
  readonly usage: TeamUsage
  readonly failing: readonly ChannelProblem[]
  /** Since when the usage has not changed. */
  readonly sinceMs: number
  /** Since when the status has shown another usage. */
  readonly staleSinceMs: number
}

/** Reads the usage of all teams that have a resource, and the state of their channels. */
export function createTeamStatusSync(parts: TeamStatusSyncParts): {
  /** Answers the usage that the status is to show; null = it is not known yet. */
  of(key: ObjectKey): TeamUsage | null
  /** Answers the channels that cannot be told at present; null = they are not known yet. */
  failingOf(key: ObjectKey): readonly ChannelProblem[] | null
  run(signal: AbortSignal): Promise<void>
} {
  const { informer, teamStats, channelHealth, clock } = parts
  const statusOf = (key: ObjectKey) => informer.get(key)?.status
  const failingIn = async (key: ObjectKey): Promise<readonly ChannelProblem[]> => {
    const settings = informer.get(key)
    const names = settings === undefined ? [] : channelPlansOf(settings.spec).map(({ name }) => name)
    if (names.length === 0) return []
    const channels = await channelHealth.healthOf(parseKey(key).team)
    // Executors forget a removed channel, but there may be no executor.
    return failingChannels(channels.filter(({ channel }) => names.includes(channel)))
  }
  const sampleOf = async (key: ObjectKey, usage: TeamUsage): Promise<Sample> => {
    const failing = await failingIn(key)
    const nowMs = clock.monotonicMs()
    const before = sync.of(key)
    if (before === null) return { usage, failing, sinceMs: nowMs, staleSinceMs: nowMs }
    return {
      usage,
      failing,
      sinceMs: isSameStatus(before.usage, usage) ? before.sinceMs : nowMs,
      staleSinceMs: isSameStatus(statusOf(key)?.usage, before.usage) ? nowMs : before.staleSinceMs,
    }
  }
  /** A busy team's usage changes with every read, so a small change alone is not worth a write. */
  const isUsageStale = (key: ObjectKey, { usage, sinceMs, staleSinceMs }: Sample): boolean => {
    const status = statusOf(key)
    if (isSameStatus(status?.usage, usage)) return false
    const nowMs = clock.monotonicMs()
    const isDue = nowMs - sinceMs >= STABLE_MS || nowMs - staleSinceMs >= WRITTEN_EVERY_MS
    return isDue || isLargeChange(status, usage)
  }
  const sync: StatusSync<Sample> = new StatusSync({
    ...parts,
    keys: () => [...informer.all()].map(keyOf),
    read: async (keys) => {
      const usages = await teamStats.read(keys.map((key) => parseKey(key).team))
      return Promise.all(keys.map((key, index) => sampleOf(key, usages[index]!)))
    },
    isStale: (key, sample) => isUsageStale(key, sample) || !showsFailing(statusOf(key), sample.failing),
    failure: 'The usage of teams could not be read',
  })
  return {
    of: (key) => {
      const sample = sync.of(key)
      const shown = statusOf(key)?.usage
      return (sample !== null && isUsageStale(key, sample) ? sample.usage : shown) ?? null
    },
    failingOf: (key) => sync.of(key)?.failing ?? null,
    run: (signal) => sync.run(signal),
  }
}

function isLargeChange(status: TeamSettingsStatus | undefined, usage: TeamUsage): boolean {
  const { usage: shown, quotas } = status ?? {}
  if (shown === undefined) return true
  return QUOTA_NAMES.some((name) => {
    const change = Math.abs(usage[name] - shown[name])
    return change > 0 && change >= SMALL_CHANGE * Math.max(shown[name], quotas?.[name] ?? 0)
  })
}
