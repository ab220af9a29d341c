import { LruCache } from '../../domain/lru-cache.ts'
import { monthOf, type TeamQuotas } from '../../domain/quotas.ts'
import type { Clock } from '../../ports/runtime.ts'
import { memoryCeiling, NO_CEILINGS, roomOf, teamCeilings, type TeamCeilings } from './ceilings.ts'
import type { Engine } from '../client/engine.ts'
import { lookAtShard, NOTHING_HELD, type MemoryLook, type ShardUsage } from './usage-reader.ts'

/** Age of a reading after which it is renewed in the background: near a quota and for memory, and otherwise. */
const CLOSE_LOOK_MS = 1_000
const FAR_LOOK_MS = 10_000
/** A refused push triggers a new reading, unless the last one is younger than this. */
const FRESH_MS = 250
/** How long a push waits for shards that do not answer; they count with their last reading. */
const LOOK_WAIT_MS = 250
/** Teams that are remembered; the one that was asked for least lately goes first. */
const TEAMS_MAX = 10_000
/** Teams of one reading. */
const LOOKED_TEAMS_MAX = 250

export interface ShardCeilings {
  readonly memory: number | null
  readonly month: { readonly month: number; readonly nextStartsMs: number }
  of(team: string): TeamCeilings
}

export interface QuotaKeeperOptions {
  readonly engine: Engine
  readonly clock: Clock
  quotasOf(team: string): TeamQuotas
}

interface TeamLook {
  lookedAtMs: number
  /** By shard. */
  readonly held: ShardUsage[]
  /** Shards that the team uses: the rest of a quota is divided between them. */
  readonly spread: Set<number>
}

/** Ceilings for the counters of teams. Owns the last readings of all shards. */
export class QuotaKeeper {
  readonly #options: QuotaKeeperOptions
  readonly #teams = new LruCache<string, TeamLook>(TEAMS_MAX)
  readonly #memory: Array<MemoryLook | undefined> = []
  #memoryLookedAtMs = Number.NEGATIVE_INFINITY
  /** When teams were last found to have reached their quota of queues. */
  readonly #queuesFullAtMs = new LruCache<string, number>(TEAMS_MAX)
  /** Teams whose background reading has not ended. */
  readonly #looking = new Set<string>()

  constructor(options: QuotaKeeperOptions) {
    this.#options = options
  }

  /** Waits for a reading if a team has none yet. */
  async ceilings(
    shard: number,
    teams: readonly string[],
    lastTries: ReadonlySet<string>,
  ): Promise<ShardCeilings> {
    const nowMs = this.#options.clock.monotonicMs()
    const unknown = teams.filter((team) => {
      const isNew = !this.#lookOf(team).spread.has(shard)
      this.#lookOf(team).spread.add(shard)
      return isNew || lastTries.has(team)
    })
    if (unknown.length > 0 || this.#memory[shard] === undefined) await this.#look(unknown)
    this.#lookBehind(teams, nowMs)
    const month = monthOf(this.#options.engine.runner.redisNowMs(shard))
    const memory = this.#memory[shard]
    const ofServer = this.#memory.filter((one) => one?.server === memory?.server).length
    return {
      memory:
        memory === undefined
          ? null
          : memoryCeiling(memory, { shards: Math.max(1, ofServer), isLastTry: lastTries.size > 0 }),
      month,
      of: (team) => this.#ceilingsOf(team, shard, lastTries.has(team)),
    }
  }

  /** Whether a refused push should be tried once more with a new reading: not right after one. */
  isWorthAnotherLook(team: string): boolean {
    const look = this.#teams.get(team)
    return look === undefined || this.#options.clock.monotonicMs() - look.lookedAtMs > FRESH_MS
  }

  boundsQueues(team: string): boolean {
    return this.#options.quotasOf(team).queues !== null
  }

  /** How many queues the team may have in this shard, given its queues in all; null = no bound. */
  async queuesCeiling(shard: number, team: string): Promise<number | null> {
    const { engine, clock, quotasOf } = this.#options
    const quota = quotasOf(team).queues
    if (quota === null) return null
    // A team that keeps creating names over its quota is counted only now and then.
    if (clock.monotonicMs() - (this.#queuesFullAtMs.get(team) ?? Number.NEGATIVE_INFINITY) < FRESH_MS)
      return 0
    const counts = await engine.runner.read((redis) =>
      Promise.all(engine.shards.map((keys) => redis.zcard(keys.teamQueues(team)))),
    )
    const left = quota - counts.reduce((sum, count) => sum + count, 0)
    if (left > 0) return (counts[shard] ?? 0) + Math.max(1, Math.floor(left / counts.length))
    this.#queuesFullAtMs.set(team, clock.monotonicMs())
    return 0
  }

  #ceilingsOf(team: string, shard: number, isLastTry: boolean): TeamCeilings {
    const look = this.#teams.get(team)
    if (look === undefined) return NO_CEILINGS
    const memory = this.#memory[shard]
    const isHere = (_: ShardUsage | undefined, at: number): boolean =>
      this.#memory[at]?.server === memory?.server
    const onServer = look.held.filter(isHere).reduce((sum, held) => sum + held.countedBytes, 0)
    return teamCeilings(
      this.#options.quotasOf(team),
      {
        held: totalOf(look.held),
        here: look.held[shard] ?? NOTHING_HELD,
        server: { bytes: onServer, room: memory === undefined ? null : roomOf(memory) },
      },
      { shards: look.spread.size, isLastTry },
    )
  }

  #lookOf(team: string): TeamLook {
    const known = this.#teams.get(team)
    if (known !== undefined) return known
    const look = {
      lookedAtMs: Number.NEGATIVE_INFINITY,
      held: this.#options.engine.shards.map(() => NOTHING_HELD),
      spread: new Set<number>(),
    }
    this.#teams.set(team, look)
    return look
  }

  /** Renews old readings in the background. */
  #lookBehind(teams: readonly string[], nowMs: number): void {
    const old = teams.filter((team) => {
      const look = this.#teams.get(team)
      if (look === undefined || this.#looking.has(team)) return false
      return nowMs - look.lookedAtMs > (this.#isFar(team, look) ? FAR_LOOK_MS : CLOSE_LOOK_MS)
    })
    if (old.length === 0 && nowMs - this.#memoryLookedAtMs <= CLOSE_LOOK_MS) return
    void this.#look(old)
  }

  /** Whether the team is below half of each of its quotas. */
  #isFar(team: string, { held }: TeamLook): boolean {
    const quotas = this.#options.quotasOf(team)
    const { jobs, countedBytes, monthJobs } = totalOf(held)
    const isBelow = (used: number, quota: number | null): boolean => quota === null || used <= quota / 2
    return (
      isBelow(jobs, quotas.pendingJobs) &&
      isBelow(countedBytes, quotas.storedBytes) &&
      isBelow(monthJobs, quotas.jobsPerMonth)
    )
  }

  /** Reads all shards; ends when each has answered or failed, or after LOOK_WAIT_MS. */
  async #look(wanted: readonly string[]): Promise<void> {
    const { engine, clock } = this.#options
    const teams = wanted.slice(0, LOOKED_TEAMS_MAX)
    const nowMs = clock.monotonicMs()
    this.#memoryLookedAtMs = nowMs
    for (const team of teams) {
      this.#looking.add(team)
      this.#lookOf(team).lookedAtMs = nowMs
    }
    const looks = engine.shards.map(async (keys) => {
      const { month } = monthOf(engine.runner.redisNowMs(keys.shard))
      const look = await lookAtShard(engine, keys, teams, month)
      this.#memory[keys.shard] = look.memory
      for (const [team, held] of look.teams) this.#note(team, keys.shard, held)
    })
    const { promise: isLate, resolve } = Promise.withResolvers<void>()
    const cancel = clock.after(LOOK_WAIT_MS, resolve)
    await Promise.race([Promise.allSettled(looks), isLate])
    cancel()
    for (const team of teams) this.#looking.delete(team)
  }

  #note(team: string, shard: number, held: ShardUsage): void {
    const look = this.#teams.get(team)
    if (look === undefined) return
    look.held[shard] = held
    if (held.jobs > 0 || held.bytes > 0) look.spread.add(shard)
  }
}

function totalOf(held: readonly ShardUsage[]): ShardUsage {
  const sum = { jobs: 0, bytes: 0, countedBytes: 0, inFlight: 0, monthJobs: 0 }
  for (const one of held) {
    sum.jobs += one.jobs
    sum.bytes += one.bytes
    sum.countedBytes += one.countedBytes
    sum.inFlight += one.inFlight
    sum.monthJobs += one.monthJobs
  }
  return sum
}
