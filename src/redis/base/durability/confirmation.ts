import { StoreUnavailableError } from '../../../domain/errors.ts'
import type { Clock } from '../../../ports/runtime.ts'
import type { RedisConnection } from '../client/connection.ts'
import { fieldsOf } from '../installation/server-look.ts'
import { onlineReplicas } from './replicas.ts'
import { ReplicasNeeded } from './replicas-needed.ts'

/** Replicas that take longer have not confirmed. Two such waits are shorter than the command timeout of the API. */
const CONFIRM_MS_MAX = 500
const COUNT_EVERY_MS = 1_000

/** A command that was sent, and has to be confirmed. */
interface Sent {
  /** The connection that it went over, by its number. */
  readonly over: number
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

export interface ConfirmationOptions {
  /** Its own: commands behind a WAIT are held up until it ends. */
  readonly connection: Pick<RedisConnection, 'eval' | 'evalsha' | 'info' | 'on' | 'wait'>
  readonly clock: Clock
  readonly hasSentinels: boolean
  /** Whether all sentinels agree that there is no failover; false = not all have answered so, or there are none. */
  isSettled(): Promise<boolean>
}

/**
 * Lets replicas confirm what a connection has written, by WAIT. It must be the connection that the write went over: another
 * one may lead to another server by then. One WAIT is under way at a time, and the next confirms all that was sent meanwhile.
 *
 * WAIT covers everything that the server had written when it ran the last command of this connection. A step that finds
 * itself done already, by a call before it or by another process, is confirmed as well, although it writes nothing.
 *
 *     new → counting (a timer is set or a count is under way) → stopped
 *
 * Owns the number of replicas needed. `stop` waits for nothing.
 */
export class Confirmation {
  readonly #options: ConfirmationOptions
  readonly #needed: ReplicasNeeded
  #sent: Sent[] = []
  #isWaiting = false
  /** Rises with each new connection. */
  #over = 0
  /** The count that a new connection begins with. */
  #counted: Promise<void> = Promise.resolve()
  #isStopped = false
  #cancelTimer = (): void => undefined

  constructor(options: ConfirmationOptions) {
    this.#options = options
    this.#needed = new ReplicasNeeded(options)
    options.connection.on('ready', () => {
      this.#over += 1
      this.#counted = this.#count().catch(() => undefined)
    })
  }

  /** Counts the replicas, then again every second. */
  async start(): Promise<void> {
    await this.#count()
    this.#countLater()
  }

  stop(): void {
    this.#isStopped = true
    this.#cancelTimer()
  }

  /**
   * Resolves with the answer to what `send` sends, once replicas have confirmed it.
   *
   * @throws StoreUnavailableError when they have not in time: it is written, and may be sent again
   */
  async confirmed<T>(send: (connection: ConfirmationOptions['connection']) => Promise<T>): Promise<T> {
    await this.#counted
    const answer = send(this.#options.connection)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#sent.push({ over: this.#over, resolve, reject })
    this.#wait()
    const [answered] = await Promise.all([answer, promise])
    return answered
  }

  #wait(): void {
    if (this.#isWaiting || this.#sent.length === 0) return
    this.#isWaiting = true
    const sent = this.#sent
    this.#sent = []
    void this.#confirm(sent).finally(() => {
      this.#isWaiting = false
      this.#wait()
    })
  }

  async #confirm(sent: readonly Sent[]): Promise<void> {
    const over = this.#over
    const needed = this.#needed.count
    try {
      const count = await this.#options.connection.wait(needed, CONFIRM_MS_MAX)
      for (const one of sent) {
        if (one.over === over && count >= needed) one.resolve()
        else one.reject(new StoreUnavailableError(`${count} of ${needed} replicas have confirmed it in time`))
      }
      // One of them may have left.
      if (count < needed) await this.#count()
    } catch (error) {
      const fault = new StoreUnavailableError('No replica has confirmed it', { cause: error })
      for (const { reject } of sent) reject(fault)
    }
  }

  async #count(): Promise<void> {
    const { connection, clock, isSettled } = this.#options
    const info = fieldsOf(await connection.info('replication'))
    const online = onlineReplicas(info)
    const history = { id: info.get('master_replid') ?? '', before: info.get('master_replid2') ?? '' }
    const isMissing = online < this.#needed.count
    const isSettledNow = isMissing && (await isSettled().catch(() => false))
    this.#needed.note(online, { isSettled: isSettledNow, nowMs: clock.monotonicMs(), history })
  }

  #countLater(): void {
    if (this.#isStopped) return
    this.#cancelTimer = this.#options.clock.after(COUNT_EVERY_MS, () => {
      // A server that is away is counted when it is back.
      void this.#count()
        .catch(() => undefined)
        .finally(() => this.#countLater())
    })
  }
}
