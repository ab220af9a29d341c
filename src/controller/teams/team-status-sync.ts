import { QUOTA_NAMES } from '../../domain/quotas.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import type { ObjectKey, Informer } from '../../ports/kubernetes.ts'
import type { TeamStats, TeamUsage } from '../../ports/quotas.ts'
import { isSameStatus } from '../../resources/conditions.ts'
import type { TeamSettingsStatus } from '../../resources/generated/kinds.ts'
import { placeOfKey } from '../../resources/queue-owner.ts'
import { keyOf, type TeamSettings } from '../kinds.ts'
import { createStatusSync } from '../reconcile/status-sync.ts'

export interface TeamLooksParts {
  readonly view: Pick<Informer<TeamSettings>, 'all' | 'get'>
  readonly queueStats: TeamStats
  /** Puts a key in line for the reconciler, which writes the status. */
  readonly enqueue: (key: ObjectKey) => void
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Looks at what all teams with settings hold, round after round. It writes nothing: a team whose status says something
 * else gets a turn of the reconciler, which is the one writer of the status.
 */
export interface TeamStatusSync {
  /** What the status is to say; null = there was no look yet. */
  of(key: ObjectKey): TeamUsage | null
  run(signal: AbortSignal): Promise<void>
}

/** A count less than this part of itself, or of its quota, away from what the status says is told when it rests. */
const SMALL_PART = 0.01
/** Looks that found the same for as long have found it at rest: less than a round, as clocks tick unevenly. */
const AT_REST_MS = 10_000
/** What never rests is told this often. */
const TOLD_EVERY_MS = 300_000

interface Seen {
  readonly usage: TeamUsage
  /** Since when it is the same. */
  readonly sinceMs: number
  /** Since when the status has said something else. */
  readonly offSinceMs: number
}

export function createTeamStatusSync(parts: TeamLooksParts): TeamStatusSync {
  const { view, queueStats, clock } = parts
  const seen = new Map<ObjectKey, Seen>()
  const note = (key: ObjectKey, usage: TeamUsage): void => {
    const nowMs = clock.monotonicMs()
    const before = seen.get(key)
    const wasTold = before === undefined || isSameStatus(view.get(key)?.status?.usage, before.usage)
    const isSame = before !== undefined && isSameStatus(before.usage, usage)
    seen.set(key, {
      usage,
      sinceMs: isSame ? before.sinceMs : nowMs,
      offSinceMs: wasTold ? nowMs : before.offSinceMs,
    })
  }
  /** Bytes and jobs of the month of a team at work are others at each look: a small difference alone is no write. */
  const isNews = (key: ObjectKey): boolean => {
    const found = seen.get(key)
    const status = view.get(key)?.status
    if (found === undefined || isSameStatus(status?.usage, found.usage)) return false
    const nowMs = clock.monotonicMs()
    const isDue = nowMs - found.sinceMs >= AT_REST_MS || nowMs - found.offSinceMs >= TOLD_EVERY_MS
    return isDue || isFarOff(status, found.usage)
  }
  const rounds = createStatusSync({
    ...parts,
    keys: () => [...view.all()].map(keyOf),
    news: async (keys) => {
      const usages = await queueStats.read(keys.map((key) => placeOfKey(key).team))
      for (const [index, usage] of usages.entries()) note(keys[index] as ObjectKey, usage)
      return keys.filter(isNews)
    },
    onRound: () => {
      for (const key of seen.keys()) if (view.get(key) === undefined) seen.delete(key)
    },
    failure: 'Teams could not be looked at',
  })
  return {
    of: (key) => (isNews(key) ? seen.get(key)?.usage : view.get(key)?.status?.usage) ?? null,
    run: (signal) => rounds.run(signal),
  }
}

function isFarOff(status: TeamSettingsStatus | undefined, usage: TeamUsage): boolean {
  const { usage: told, quotas } = status ?? {}
  if (told === undefined) return true
  return QUOTA_NAMES.some((name) => {
    const off = Math.abs(usage[name] - told[name])
    return off > 0 && off >= SMALL_PART * Math.max(told[name], quotas?.[name] ?? 0)
  })
}
