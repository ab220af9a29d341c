import { LruCache } from '../../../domain/lru-cache.ts'
import { monthOf, type TeamQuotas } from '../../../domain/quotas.ts'
import type { Clock } from '../../../ports/runtime.ts'
import { memoryCeiling, NO_CEILINGS, roomOf, teamCeilings, type TeamCeilings } from './ceilings.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { readShardUsage, NOTHING_HELD, type MemoryReading, type ShardUsage } from './usage-reader.ts'

/** Age of a reading after which it is renewed in the background: near a quota and for memory, and otherwise. */
const CLOSE_READING_MS = 1_000
const FAR_READING_MS = 10_000
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

interface TeamReading {
  readAtMs: number
  /** Usage by shard. */
  readonly held: ShardUsage[]
  /** Shards that the team uses: the rest of a quota is divided between them. */
  readonly spread: Set<number>
}

/** Ceilings for the counters of teams. Owns the last readings of all shards. */
export class QuotaKeeper {
  readonly #options: QuotaKeeperOptions
  readonly #teams = new LruCache<string, TeamReading>(TEAMS_MAX)
  readonly #memory: Array<MemoryReading | undefined> = []
  #memoryReadAtMs = Number.NEGATIVE_INFINITY
  /** Times at which teams were last found to have reached their quota of queues. */
  readonly #queuesFullAtMs = new LruCache<string, number>(TEAMS_MAX)
  /** Teams whose background reading has not ended. */
  readonly #reading = new Set<string>()

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
      const isNew = !this.#readingOf(team).spread.has(shard)
      this.#readingOf(team).spread.add(shard)
      return isNew || lastTries.has(team)
    })
    if (unknown.length > 0 || this.#memory[shard] === undefined) await this.#read(unknown)
    this.#readBehind(teams, nowMs)
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
  isWorthAnotherReading(team: string): boolean {
    const reading = this.#teams.get(team)
    return reading === undefined || this.#options.clock.monotonicMs() - reading.readAtMs > FRESH_MS
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
    const reading = this.#teams.get(team)
    if (reading === undefined) return NO_CEILINGS
    const memory = this.#memory[shard]
    const isHere = (_: ShardUsage | undefined, at: number): boolean =>
      this.#memory[at]?.server === memory?.server
    const onServer = reading.held.filter(isHere).reduce((sum, held) => sum + held.countedBytes, 0)
    return teamCeilings(
      this.#options.quotasOf(team),
      {
        held: totalOf(reading.held),
        here: reading.held[shard] ?? NOTHING_HELD,
        server: { bytes: onServer, room: memory === undefined ? null : roomOf(memory) },
      },
      { shards: reading.spread.size, isLastTry },
    )
  }

  #readingOf(team: string): TeamReading {
    const known = this.#teams.get(team)
    if (known !== undefined) return known
    const reading = {
      readAtMs: Number.NEGATIVE_INFINITY,
      held: this.#options.engine.shards.map(() => NOTHING_HELD),
      spread: new Set<number>(),
    }
    this.#teams.set(team, reading)
    return reading
  }

  /** Renews old readings in the background. */
  #readBehind(teams: readonly string[], nowMs: number): void {
    const old = teams.filter((team) => {
      const reading = this.#teams.get(team)
      if (reading === undefined || this.#reading.has(team)) return false
      return nowMs - reading.readAtMs > (this.#isFar(team, reading) ? FAR_READING_MS : CLOSE_READING_MS)
    })
    if (old.length === 0 && nowMs - this.#memoryReadAtMs <= CLOSE_READING_MS) return
    void this.#read(old)
  }

  /** Whether the team is below half of each of its quotas. */
  #isFar(team: string, { held }: TeamReading): boolean {
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
  async #read(wanted: readonly string[]): Promise<void> {
    const { engine, clock } = this.#options
    const teams = wanted.slice(0, LOOKED_TEAMS_MAX)
    const nowMs = clock.monotonicMs()
    this.#memoryReadAtMs = nowMs
    for (const team of teams) {
      this.#reading.add(team)
      this.#readingOf(team).readAtMs = nowMs
    }
    const readings = engine.shards.map(async (keys) => {
      const { month } = monthOf(engine.runner.redisNowMs(keys.shard))
      const reading = await readShardUsage(engine, keys, teams, month)
      this.#memory[keys.shard] = reading.memory
      for (const [team, held] of reading.teams) this.#note(team, keys.shard, held)
    })
    const { promise: isLate, resolve } = Promise.withResolvers<void>()
    const cancel = clock.after(LOOK_WAIT_MS, resolve)
    await Promise.race([Promise.allSettled(readings), isLate])
    cancel()
    for (const team of teams) this.#reading.delete(team)
  }

  #note(team: string, shard: number, held: ShardUsage): void {
    const reading = this.#teams.get(team)
    if (reading === undefined) return
    reading.held[shard] = held
    if (held.jobs > 0 || held.bytes > 0) reading.spread.add(shard)
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
