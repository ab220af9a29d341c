import type { Scripts } from '../../../src/redis/steps.ts'
import { MemoryRedis } from './memory-redis.ts'
import type { Reply } from './redis-values.ts'
import type { Scheduler } from '../story/scheduler.ts'
import type { SeededRandom } from '../story/seeded-random.ts'
import { SIMULATION_EPOCH_MS } from '../story/simulated-process.ts'

export interface ServerStep {
  readonly script: string
  readonly keys: readonly string[]
  readonly args: readonly string[]
}

/** Observes every script that runs on the server, before and after it. */
export interface StepWatcher {
  before(step: ServerStep): void
  after(step: ServerStep, reply: Reply): void
}

/** The Redis of a simulation. Its data survives restarts, its script cache does not; its clock can be set. */
export class SimulatedServer {
  readonly redis: MemoryRedis
  isDown = false
  /** Errors that a healthy Redis never replies to the engine. */
  readonly defects: string[] = []
  readonly #scheduler: Scheduler
  readonly #sources: ReadonlyMap<string, string>
  #loadingUntilMs = 0
  /** By the cluster tag of a shard. */
  readonly #silentUntilMs = new Map<string, number>()
  #loaded = new Set<string>()
  #offsetMs = 0
  #watchers: StepWatcher[] = []
  #hintListeners = new Set<(message: string) => void>()
  #onDown = new Set<() => void>()

  constructor(scheduler: Scheduler, scripts: Scripts, random: SeededRandom) {
    this.#scheduler = scheduler
    this.#sources = new Map(Object.values(scripts).map(({ source, sha }) => [source, sha]))
    this.redis = new MemoryRedis({ scripts, nowMs: () => this.wallMs, random: () => random.next() })
  }

  /** Virtual time, which no fault changes. */
  get nowMs(): number {
    return this.#scheduler.nowMs
  }

  get wallMs(): number {
    return SIMULATION_EPOCH_MS + this.#scheduler.nowMs + this.#offsetMs
  }

  stepClock(ms: number): void {
    this.#offsetMs += ms
  }

  /** Until when commands on keys of a shard get no reply. */
  silence(key: string, untilMs: number): void {
    const tag = tagOf(key)
    this.#silentUntilMs.set(tag, Math.max(this.#silentUntilMs.get(tag) ?? 0, untilMs))
  }

  silentUntilMs(words: readonly string[]): number {
    if (this.#silentUntilMs.size === 0) return 0
    const key = words.find((word) => word.startsWith('punctual:{'))
    return key === undefined ? 0 : (this.#silentUntilMs.get(tagOf(key)) ?? 0)
  }

  watch(watcher: StepWatcher): void {
    this.#watchers.push(watcher)
  }

  onHint(listener: (message: string) => void): () => void {
    this.#hintListeners.add(listener)
    return () => this.#hintListeners.delete(listener)
  }

  /** Calls `listener` when the server goes down. */
  onDown(listener: () => void): void {
    this.#onDown.add(listener)
  }

  goDown(): void {
    this.isDown = true
    for (const listener of this.#onDown) listener()
  }

  /** @param loadingMs how long it answers LOADING */
  comeUp(loadingMs: number): void {
    this.isDown = false
    this.#loaded = new Set()
    this.#loadingUntilMs = this.#scheduler.nowMs + loadingMs
  }

  /** Runs a command. Throws the error that Redis replies with. */
  execute(name: string, words: readonly string[]): Reply {
    if (this.#scheduler.nowMs < this.#loadingUntilMs) throw new Error('LOADING Redis is loading the dataset')
    if (name === 'publish') {
      for (const listener of this.#hintListeners) listener(words[1] ?? '')
      return this.#hintListeners.size
    }
    if (name !== 'evalsha' && name !== 'eval') {
      return this.#withoutDefect(name, () => this.redis.run(name, words))
    }
    const [text = '', count = '0', ...rest] = words
    const sha = name === 'eval' ? this.#sources.get(text) : text
    if (sha === undefined) throw new Error('ERR unknown script')
    if (name === 'eval') this.#loaded.add(sha)
    else if (!this.#loaded.has(sha)) throw new Error('NOSCRIPT No matching script. Please use EVAL.')
    return this.#step(sha, Number(count), rest)
  }

  #step(sha: string, count: number, words: readonly string[]): Reply {
    const step = {
      script: this.redis.scriptName(sha),
      keys: words.slice(0, count),
      args: words.slice(count),
    }
    for (const watcher of this.#watchers) watcher.before(step)
    const reply = this.#withoutDefect(step.script, () =>
      this.redis.run('evalsha', [sha, String(count), ...words]),
    )
    for (const watcher of this.#watchers) watcher.after(step, reply)
    return reply
  }

  #withoutDefect(what: string, run: () => Reply): Reply {
    try {
      return run()
    } catch (error) {
      this.defects.push(`${what} raised ${String(error)}`)
      throw error
    }
  }
}

function tagOf(key: string): string {
  return key.slice(key.indexOf('{') + 1, key.indexOf('}'))
}
