import { Cluster } from 'ioredis'
import { StartupError } from '../../../domain/errors.ts'
import { createMutex } from '../../../domain/mutex.ts'
import type { Clock, TestClock, TestTime } from '../../../ports/runtime.ts'
import type { RedisConnection } from '../client/connection.ts'
import { asStoreFault } from '../client/faults.ts'
import { META } from '../layout/fields.ts'
import { META_KEY, type ShardKeys } from '../layout/keys.ts'
import type { Engine } from '../engine/engine.ts'
import type { Rewrite } from '../engine/scripts.ts'
import { learnShardTime, readShardClock } from '../engine/shard-clock.ts'

/**
 * Put before every step of an installation for tests: TIME answers the clock of Redis and what it was moved ahead. The
 * key is declared by no step, which only a Redis Cluster minds; its steps are not loaded so.
 */
const PRELUDE = `local redis = (function(real)
  local function time()
    local now = real.call('TIME')
    local ahead = tonumber(real.call('HGET', '${META_KEY}', '${META.testClockMs}') or '0')
    local micros = now[2] + ahead % 1000 * 1000
    return {
      string.format('%.0f', now[1] + math.floor(ahead / 1000) + math.floor(micros / 1000000)),
      string.format('%.0f', micros % 1000000)
    }
  end
  return setmetatable({ call = function(name, ...)
    if name == 'TIME' then return time() end
    return real.call(name, ...)
  end }, { __index = real })
end)(redis)`

/** Loads steps so that they go by the test clock. Behind the first line, which may say with which flags they run. */
export const byTestClock: Rewrite = (source) =>
  source.replace('\n', () => `\n${PRELUDE.replaceAll(/\n */g, ' ')} `)

type ShardTouch = (keys: ShardKeys) => Promise<unknown>

/** How soon a process follows a move that another one has made. */
const LOOK_MS = 250

/**
 * The time of an installation for tests. Owns how far it is ahead, as it was last read or written, and tells the engines
 * of this process when it moves: their loops then find what has become due. Any process may move it, so each looks for
 * moves of others from `start` to `stop`, which waits for nothing: a look under way still ends, and no other follows.
 */
export class RedisTestClock implements TestClock {
  readonly #connection: RedisConnection
  readonly #engines: Engine[] = []
  readonly #touch: ShardTouch[] = []
  /** Two moves at once could take the time back. */
  readonly #alone = createMutex()
  #aheadMs: number
  #cancelLook: () => void = () => undefined
  #isStopped = false

  private constructor(connection: RedisConnection, aheadMs: number) {
    this.#connection = connection
    this.#aheadMs = aheadMs
  }

  /** @throws StartupError in a Redis Cluster, whose steps may use the keys of one slot only */
  static async open(connection: RedisConnection): Promise<RedisTestClock> {
    if (connection instanceof Cluster) {
      throw new StartupError(
        'PUNCTUAL_TEST_CLOCK works with a single Redis server, and this is a Redis Cluster: use another Redis.',
      )
    }
    return new RedisTestClock(connection, await readAhead(connection))
  }

  get aheadMs(): number {
    return this.#aheadMs
  }

  /** @param clock of this machine, of which the time of day is moved and the timers stay */
  ahead(clock: Clock): Clock {
    return { ...clock, wallMs: () => clock.wallMs() + this.#aheadMs }
  }

  /**
   * An engine of this process whose loops follow the time.
   * @param touch runs a step in each shard after a move, so that leases are renewed before anybody looks at them
   */
  follow(engine: Engine, touch: ShardTouch): void {
    this.#engines.push(engine)
    this.#touch.push(touch)
  }

  /** @param clock of this machine, whose timers it uses */
  start(clock: Clock): void {
    if (this.#isStopped) return
    this.#cancelLook = clock.after(LOOK_MS, () => {
      // While Redis is away nothing is due either; the next look tells.
      void this.#look().catch(() => undefined)
      this.start(clock)
    })
  }

  stop(): void {
    this.#isStopped = true
    this.#cancelLook()
  }

  async #look(): Promise<void> {
    await this.#take(await readAhead(this.#connection))
  }

  /** Loops look again within half a second; until a step has answered, they would look by the former time. */
  async #take(aheadMs: number): Promise<void> {
    if (aheadMs === this.#aheadMs) return
    this.#aheadMs = aheadMs
    await Promise.all(
      this.#engines.flatMap((engine) => engine.shards.map((keys) => learnShardTime(engine, keys))),
    )
  }

  async read(): Promise<TestTime> {
    const [engine] = this.#engines
    const [keys] = engine?.shards ?? []
    if (engine === undefined || keys === undefined) throw new Error('the test clock follows no engine')
    await this.#take(await engine.runner.read(readAhead))
    // As steps read it: all shards have one clock.
    const { nowMs } = await readShardClock(engine, keys)
    return { nowMs, aheadMs: this.#aheadMs }
  }

  advanceTo(toMs: number): Promise<TestTime> {
    return this.#advance((nowMs) => toMs - nowMs)
  }

  advanceBy(ms: number): Promise<TestTime> {
    return this.#advance(() => ms)
  }

  #advance(spanFrom: (nowMs: number) => number): Promise<TestTime> {
    return this.#alone(async () => {
      const before = await this.read()
      const spanMs = Math.max(0, spanFrom(before.nowMs))
      if (spanMs > 0) await this.#write(before.aheadMs + spanMs)
      return { nowMs: before.nowMs + spanMs, aheadMs: before.aheadMs + spanMs }
    })
  }

  async #write(aheadMs: number): Promise<void> {
    try {
      // The sum, not the span: a command that is sent twice moves the time once.
      await this.#connection.hset(META_KEY, META.testClockMs, String(aheadMs))
    } catch (error) {
      throw asStoreFault(error)
    }
    const [engine] = this.#engines
    const [touch] = this.#touch
    if (engine !== undefined && touch !== undefined) await Promise.all(engine.shards.map(touch))
    await this.#take(aheadMs)
  }
}

async function readAhead(connection: RedisConnection): Promise<number> {
  return Number((await connection.hget(META_KEY, META.testClockMs)) ?? 0)
}
