import { HEADROOM_ENTRIES_MAX } from '../../../domain/limits.ts'
import { LruCache } from '../../../domain/lru-cache.ts'
import { effectiveQuotas, monthOf, type TeamQuotas } from '../../../domain/quotas.ts'
import type { CallQuotas } from '../../../ports/quotas.ts'
import type { Clock } from '../../../ports/runtime.ts'
import type { BoundedTeamsSource } from '../../../ports/settings.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { readShardUsage } from './usage-reader.ts'

/** How old a reading may be before the next one begins. */
const READ_EVERY_MS = 500
/** Teams that are remembered. */
const TEAMS_MAX = 4_096

export interface CallQuotaOptions {
  readonly engine: Engine
  readonly clock: Clock
  readonly settings: BoundedTeamsSource
  /** The installation's. */
  readonly quotas: TeamQuotas
}

interface Reading {
  beganAtMs: number
  /** Calls of the team that this executor may run at once. */
  allowed: number
}

/**
 * Divides the rest of a team's quota of calls in flight between the executors. The part is absolute, like a ceiling, so
 * executors with the same reading do not exceed the rest together. Until the first reading a team makes one call here.
 */
export class RedisCallQuotas implements CallQuotas {
  readonly #options: CallQuotaOptions
  readonly #readings = new LruCache<string, Reading>(TEAMS_MAX)

  constructor(options: CallQuotaOptions) {
    this.#options = options
  }

  headroomOf(team: string, held: number): number | null {
    const quota = this.#quotaOf(team)
    if (quota === null) return null
    const nowMs = this.#options.clock.monotonicMs()
    const reading = this.#readings.get(team) ?? {
      beganAtMs: Number.NEGATIVE_INFINITY,
      allowed: Math.min(1, quota),
    }
    if (nowMs - reading.beganAtMs >= READ_EVERY_MS) {
      reading.beganAtMs = nowMs
      this.#readings.set(team, reading)
      void this.#read(team, reading, { quota, held })
    }
    return Math.max(0, Math.min(quota, reading.allowed) - held)
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

  /** A shard that does not answer counts as 0, as it has only a part of the calls. */
  async #read(
    team: string,
    reading: Reading,
    { quota, held }: { quota: number; held: number },
  ): Promise<void> {
    const { engine } = this.#options
    const shards = await Promise.allSettled(
      engine.shards.map(async (keys) => {
        const { month } = monthOf(engine.runner.redisNowMs(keys.shard))
        const [{ teams }, executors] = await Promise.all([
          readShardUsage(engine, keys, [team], month),
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
    // Each executor may take one of the last few; otherwise none could take the last.
    reading.allowed = held + (left > 0 ? Math.max(1, Math.floor(left / executors)) : left)
  }
}
