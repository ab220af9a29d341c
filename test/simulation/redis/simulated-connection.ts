import type { RedisConnection } from '../../../src/redis/base/client/connection.ts'
import type { Reply } from './redis-values.ts'
import type { Scheduler } from '../story/scheduler.ts'
import type { SeededRandom } from '../story/seeded-random.ts'
import type { SimulatedProcess } from '../story/simulated-process.ts'
import type { SimulatedServer } from './simulated-server.ts'

/** Faults of a network, each with its probability per message. */
export interface NetworkFaults {
  /** The connection breaks before the message reaches Redis. */
  lostBefore: number
  /** Redis executes the message; the connection breaks during the reply. */
  lostAfter: number
  /** The share of messages lost before Redis that arrive late anyway, after they were resent. */
  late: number
  /** Slow messages take up to this long. */
  slowMs: number
  slow: number
}

export const NO_FAULTS: NetworkFaults = { lostBefore: 0, lostAfter: 0, late: 0, slowMs: 0, slow: 0 }

interface Command {
  readonly name: string
  readonly words: readonly string[]
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: Error) => void
  isSettled: boolean
}

export interface SimulatedConnectionOptions {
  readonly process: SimulatedProcess
  readonly server: SimulatedServer
  readonly scheduler: Scheduler
  readonly random: SeededRandom
  readonly faults: () => NetworkFaults
  readonly commandTimeoutMs: number
  readonly trace: (line: () => string) => void
  readonly onBreak: (process: string) => void
}

const RECONNECT_DELAY_MS_MAX = 1000

/**
 * One process's connection as `connectRedis` sets it up: commands fail at once while it is down and the client never
 * resends them. Messages of one connection arrive in order; one that was lost can still arrive late.
 *
 *     up → down (everything open is rejected) → up (after the delays of ioredis, once the server answers)
 */
export class SimulatedConnection {
  readonly #options: SimulatedConnectionOptions
  #isUp = true
  #epoch = 0
  #open = new Set<Command>()
  #outbox: Command[] = []
  #lastArrivalMs = 0
  #lastReplyMs = 0
  #stalledUntilMs = 0
  #isClosed = false

  constructor(options: SimulatedConnectionOptions) {
    this.#options = options
    options.server.onDown(() => this.break('the server went away'))
    options.process.onDeath(() => this.close())
  }

  /** The client, with the methods of ioredis that the engine calls. */
  get client(): RedisConnection {
    return new Proxy({} as RedisConnection, {
      get: (_, name) => (typeof name === 'string' && name !== 'then' ? this.#method(name) : undefined),
    })
  }

  close(): void {
    this.#isClosed = true
    this.#isUp = false
    this.#epoch += 1
    this.#open.clear()
  }

  /** Delays everything in both directions for this long. */
  stall(ms: number): void {
    this.#stalledUntilMs = Math.max(this.#stalledUntilMs, this.#options.scheduler.nowMs + ms)
  }

  break(reason: string): void {
    if (!this.#isUp) return
    const { process, scheduler, trace } = this.#options
    trace(() => `${process.name} connection breaks: ${reason}`)
    this.#options.onBreak(process.name)
    this.#isUp = false
    this.#epoch += 1
    const open = [...this.#open]
    this.#open.clear()
    process.deliver(scheduler.nowMs, () => {
      for (const command of open) settle(command, () => command.reject(new Error('Connection is closed.')))
    })
    this.#reconnect(0)
  }

  #reconnect(attempt: number): void {
    const { process, scheduler, server, random } = this.#options
    const delayMs = Math.min(RECONNECT_DELAY_MS_MAX, 25 * 2 ** Math.min(attempt, 6))
    scheduler.after(delayMs + random.between(0, 2), () => {
      if (this.#isClosed) return
      if (server.isDown || this.#stalledUntilMs > scheduler.nowMs) this.#reconnect(attempt + 1)
      else process.deliver(scheduler.nowMs, () => (this.#isUp = true))
    })
  }

  #method(name: string): (...words: unknown[]) => Promise<unknown> {
    return async (...words) => {
      const reply = await this.#send(name, words.map(String))
      return name === 'hgetall' ? toObject(reply as string[]) : reply
    }
  }

  #send(name: string, words: readonly string[]): Promise<Reply> {
    if (!this.#isUp) {
      return Promise.reject(new Error("Stream isn't writeable and enableOfflineQueue options is false"))
    }
    return new Promise((resolve, reject) => {
      const command: Command = { name, words, resolve, reject, isSettled: false }
      this.#open.add(command)
      this.#options.process.clock.after(this.#options.commandTimeoutMs, () =>
        settle(command, () => reject(new Error('Command timed out'))),
      )
      const { server, scheduler } = this.#options
      const epoch = this.#epoch
      const silentUntilMs = server.silentUntilMs(words)
      // A paused node reads what it was sent when it continues, unless the connection is gone by then.
      if (silentUntilMs > scheduler.nowMs) {
        scheduler.at(silentUntilMs, () => epoch === this.#epoch && this.#post(command))
      } else this.#post(command)
    })
  }

  /** Commands of one event-loop turn travel together. */
  #post(command: Command): void {
    if (this.#outbox.push(command) === 1) queueMicrotask(() => this.#flush())
  }

  #flush(): void {
    const { scheduler, random, faults } = this.#options
    const commands = this.#outbox
    this.#outbox = []
    if (!this.#isUp) return
    const epoch = this.#epoch
    const rates = faults()
    const arrivalMs = Math.max(this.#lastArrivalMs, this.#stalledUntilMs, scheduler.nowMs + this.#travelMs())
    this.#lastArrivalMs = arrivalMs
    if (random.chance(rates.lostBefore)) {
      scheduler.at(arrivalMs, () => epoch === this.#epoch && this.break('a message was lost'))
      if (random.chance(rates.late)) {
        scheduler.at(arrivalMs + random.between(30, 4_000), () => this.#executeAll(commands, 'late'))
      }
      return
    }
    const isAnswered = !random.chance(rates.lostAfter)
    scheduler.at(arrivalMs, () => this.#arrive(commands, epoch, isAnswered))
  }

  #travelMs(): number {
    const { random, faults } = this.#options
    const { slow, slowMs } = faults()
    return random.chance(slow) ? random.between(1, slowMs) : random.between(0.05, 0.6)
  }

  #arrive(commands: readonly Command[], epoch: number, isAnswered: boolean): void {
    const { process, scheduler, server, random, faults } = this.#options
    // Messages in transit when a connection breaks may or may not have reached the server.
    const isDropped = epoch !== this.#epoch && !random.chance(faults().late / 2)
    if (server.isDown || isDropped) return
    const answers = this.#executeAll(commands, '')
    const replyMs = Math.max(this.#lastReplyMs, this.#stalledUntilMs, scheduler.nowMs + this.#travelMs())
    this.#lastReplyMs = replyMs
    if (!isAnswered) {
      scheduler.at(replyMs, () => epoch === this.#epoch && this.break('an answer was lost'))
      return
    }
    process.deliver(replyMs, () => {
      if (epoch !== this.#epoch) return
      commands.forEach((command, i) => {
        this.#open.delete(command)
        const answer = answers[i] as Reply | Error
        settle(command, () => (answer instanceof Error ? command.reject(answer) : command.resolve(answer)))
      })
    })
  }

  #executeAll(commands: readonly Command[], how: 'late' | ''): Array<Reply | Error> {
    const { process, server, trace } = this.#options
    if (server.isDown) return []
    return commands.map(({ name, words }) => {
      let answer: Reply | Error
      try {
        answer = server.execute(name, words)
      } catch (error) {
        answer = error as Error
      }
      trace(() => `${process.name} ${how} ${describe(server, name, words)} → ${short(answer)}`)
      return answer
    })
  }
}

function settle(command: Command, run: () => void): void {
  if (command.isSettled) return
  command.isSettled = true
  run()
}

function toObject(flat: readonly string[]): Record<string, string> {
  const pairs: Record<string, string> = {}
  for (let i = 0; i < flat.length; i += 2) pairs[flat[i] as string] = flat[i + 1] as string
  return pairs
}

function describe(server: SimulatedServer, name: string, words: readonly string[]): string {
  if (name !== 'evalsha') return name === 'eval' ? 'eval' : `${name} ${words.slice(0, 3).join(' ')}`
  return server.redis.scriptName(words[0] ?? '')
}

function short(answer: Reply | Error): string {
  const text = answer instanceof Error ? `error ${answer.message}` : JSON.stringify(answer)
  return text.length <= 240 ? text : `${text.slice(0, 240)}…`
}
