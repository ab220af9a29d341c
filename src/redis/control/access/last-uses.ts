import type { Principal } from '../../../domain/access/principal.ts'
import { reasonOf } from '../../../domain/errors.ts'
import type { Clock, Logger } from '../../../ports/runtime.ts'
import type { TokenUses } from '../../../ports/access/tokens.ts'
import type { StepRunner } from '../../base/engine/step-runner.ts'
import { USED_KEY } from '../../base/layout/keys.ts'
import { tokenField } from '../compiled/stored-settings.ts'

/** How late Redis learns that a token was used; a crash loses as much. */
const WRITE_MS = 60_000

/**
 * Notes when tokens were last used. Owns what was noted since the last write, and its timer.
 *
 *     idle → noted (a timer is set) → idle
 *
 * `stop` writes what was noted; no timer is set from then on. A process may overwrite a use that another noted at most
 * a minute later.
 */
export class LastUses implements TokenUses {
  readonly #parts: {
    readonly runner: Pick<StepRunner, 'read'>
    readonly clock: Clock
    readonly logger: Logger
  }
  #noted = new Map<Principal, number>()
  #cancelTimer: (() => void) | null = null
  #isStopped = false

  constructor(parts: {
    readonly runner: Pick<StepRunner, 'read'>
    readonly clock: Clock
    readonly logger: Logger
  }) {
    this.#parts = parts
  }

  /** Costs no more than a look into a map: every request comes by. */
  note(principal: Principal, nowMs: number): void {
    if (principal.kind !== 'token') return
    this.#noted.set(principal, nowMs)
    if (this.#cancelTimer !== null || this.#isStopped) return
    this.#cancelTimer = this.#parts.clock.after(WRITE_MS, () => void this.write())
  }

  /** Writes now what is newer than what is stored. Never throws. */
  async write(): Promise<void> {
    this.#cancelTimer?.()
    this.#cancelTimer = null
    const noted = new Map(
      [...this.#noted].map(([{ team, subject: name }, atMs]) => [tokenField({ team, name }), atMs]),
    )
    this.#noted = new Map()
    if (noted.size === 0) return
    const fields = [...noted.keys()]
    try {
      await this.#parts.runner.read(async (redis) => {
        const stored = await redis.hmget(USED_KEY, ...fields)
        const newer = [...noted].filter(([, atMs], index) => atMs > Number(stored[index] ?? 0))
        if (newer.length > 0) await redis.hset(USED_KEY, new Map(newer))
      })
    } catch (error) {
      this.#parts.logger.debug('The last use of tokens could not be stored', { reason: reasonOf(error) })
    }
  }

  async lastUsed(team: string, names: readonly string[]): Promise<ReadonlyArray<number | null>> {
    if (names.length === 0) return []
    const fields = names.map((name) => tokenField({ team, name }))
    const stored = await this.#parts.runner.read((redis) => redis.hmget(USED_KEY, ...fields))
    return stored.map((text) => (text === null ? null : Number(text)))
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.write()
  }
}
