import { HEADROOM_ENTRIES_MAX } from '../../domain/limits.ts'
import { LruCache } from '../../domain/lru-cache.ts'
import { effectiveQuotas, monthOf, type TeamQuotas } from '../../domain/quotas.ts'
import type { CallQuotas } from '../../ports/quotas.ts'
import type { Clock } from '../../ports/runtime.ts'
import type { BoundedTeamsSource } from '../../ports/settings.ts'
import type { Engine } from '../client/engine.ts'
import { lookAtShard } from './usage-reader.ts'

/** How old a look may be before the next one begins. */
const LOOK_EVERY_MS = 500
/** Teams that are remembered. */
const TEAMS_MAX = 4_096

export interface CallQuotaOptions {
  readonly engine: Engine
  readonly clock: Clock
  readonly settings: BoundedTeamsSource
  /** The installation's. */
  readonly quotas: TeamQuotas
}

/**
 * Parts what is left of a team's calls in flight between the executors there are. Like a ceiling its part is absolute,
 * so that executors that have looked at the same do not take many times what is left. Until the first look a team
 * makes one call here.
 */
export function createCallQuotas(options: CallQuotaOptions): CallQuotas {
  return new LookingCallQuotas(options)
}

interface Look {
  beganAtMs: number
  /** Calls of the team that this executor may hold. */
  allowed: number
}

class LookingCallQuotas implements CallQuotas {
  readonly #options: CallQuotaOptions
  readonly #looks = new LruCache<string, Look>(TEAMS_MAX)

  constructor(options: CallQuotaOptions) {
    this.#options = options
  }

  headroomOf(team: string, held: number): number | null {
    const quota = this.#quotaOf(team)
    if (quota === null) return null
    const nowMs = this.#options.clock.monotonicMs()
    const look = this.#looks.get(team) ?? { beganAtMs: Number.NEGATIVE_INFINITY, allowed: Math.min(1, quota) }
    if (nowMs - look.beganAtMs >= LOOK_EVERY_MS) {
      look.beganAtMs = nowMs
      this.#looks.set(team, look)
      void this.#look(team, look, { quota, held })
    }
    return Math.max(0, Math.min(quota, look.allowed) - held)
  }

  newcomerHeadroom(): number | null {
    const { callsInFlight } = this.#options.quotas
    return callsInFlight === null ? null : Math.min(1, callsInFlight)
  }

  teamsWithQuota(): readonly string[] {
    return this.#options.settings.boundedTeams().slice(0, HEADROOM_ENTRIES_MAX)
  }

  #quotaOf(team: string): number | null {
    const { settings, quotas } = this.#options
    return effectiveQuotas(settings.of(team).quotas, quotas).callsInFlight
  }

  /** A shard that does not answer counts nothing: its calls are few beside those of all. */
  async #look(team: string, look: Look, { quota, held }: { quota: number; held: number }): Promise<void> {
    const { engine } = this.#options
    const shards = await Promise.allSettled(
      engine.shards.map(async (keys) => {
        const { month } = monthOf(engine.runner.redisNowMs(keys.shard))
        const [{ teams }, executors] = await Promise.all([
          lookAtShard(engine, keys, [team], month),
          engine.runner.read((redis) => redis.zcard(keys.executors)),
        ])
        return { inFlight: teams.get(team)?.inFlight ?? 0, executors }
      }),
    )
    const answers = shards.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    if (answers.length === 0) return
    const inFlight = answers.reduce((sum, one) => sum + one.inFlight, 0)
    const executors = Math.max(1, ...answers.map((one) => one.executors))
    const left = quota - inFlight
    // Of the last few each executor may take one, else the last would be nobody's.
    look.allowed = held + (left > 0 ? Math.max(1, Math.floor(left / executors)) : left)
  }
}
