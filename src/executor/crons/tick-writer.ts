import { isOutage, reasonOf } from '../../domain/errors.ts'
import type { CronSource, DecidedCron, DueCron, PreparedTicks, TickAnswer } from '../../ports/crons.ts'

/**
 * Prepares and sends the ticks of many crons, so that one that our own code or a step throws over stops no other: its
 * batch is halved until it is alone, and then it is quarantined. Throws StoreUnavailableError and StorageFullError.
 */
export class TickWriter {
  readonly #source: CronSource

  constructor(source: CronSource) {
    this.#source = source
  }

  /** Answers what `judge` does; undefined when it throws because of a defect, for which the cron is quarantined. */
  judge<T>(cron: DueCron, judge: () => T): T | undefined {
    try {
      return judge()
    } catch (error) {
      if (isOutage(error)) throw error
      this.#source.quarantine(cron, reasonOf(error))
      return undefined
    }
  }

  async prepare(decided: readonly DecidedCron[]): Promise<PreparedTicks[]> {
    try {
      return await this.#source.prepare(decided)
    } catch (error) {
      const halves = this.#halvesOf(decided, error)
      const prepared: PreparedTicks[] = []
      for (const half of halves) prepared.push(...(await this.prepare(half)))
      return prepared
    }
  }

  /** A step that throws takes back what it has written, so each cron may be sent again. */
  async send(ticks: PreparedTicks): Promise<TickAnswer> {
    try {
      return await ticks.send()
    } catch (error) {
      const halves = this.#halvesOf(ticks.decided, error)
      let [started, outdated] = [0, 0]
      for (const half of halves) {
        for (const part of await this.prepare(half)) {
          const answer = await this.send(part)
          started += answer.started
          outdated += answer.outdated
        }
      }
      return { started, outdated }
    }
  }

  /** Halves the decisions that a defect kept from being written. A single cron is quarantined instead. */
  #halvesOf(decided: readonly DecidedCron[], defect: unknown): DecidedCron[][] {
    if (isOutage(defect)) throw defect
    const [first] = decided
    if (first === undefined) throw defect
    const middle = Math.ceil(decided.length / 2)
    if (decided.length > 1) return [decided.slice(0, middle), decided.slice(middle)]
    this.#source.quarantine(first.cron, reasonOf(defect))
    return []
  }
}
