import { reasonOf } from '../../../domain/errors.ts'
import { TICK_BATCH_BYTES_MAX, TICK_BATCH_MAX, UPCOMING_BYTES_MAX } from '../../../domain/limits.ts'
import type { DueCron } from '../../../ports/crons.ts'
import { shardOfQueue, type Engine } from '../../base/engine/engine.ts'
import { definitionIn, stateIn, type CronStateRecord } from '../../base/layout/cron-record.ts'
import type { ShardKeys } from '../../base/layout/keys.ts'
import type { CronQuarantine } from './cron-quarantine.ts'

/** Crons read in one command. */
const READ_PAGE = 500

interface ListedCron {
  readonly id: string
  readonly dueMs: number
}

interface ReadCron extends ListedCron {
  /** null when there is none. */
  readonly state: CronStateRecord | 'damaged' | null
}

/** Reads one shard's list of next ticks, without the crons in quarantine. */
export class DueCrons {
  readonly #engine: Engine
  readonly #keys: ShardKeys
  readonly #quarantine: CronQuarantine

  constructor(engine: Engine, { keys, quarantine }: { keys: ShardKeys; quarantine: CronQuarantine }) {
    this.#engine = engine
    this.#keys = keys
    this.#quarantine = quarantine
  }

  async nextDueMs(): Promise<number | null> {
    const head = await this.#engine.runner.read((redis) =>
      redis.zrange(this.#keys.cronsDue, '0', String(this.#quarantine.size), 'WITHSCORES'),
    )
    return this.#listed(head)[0]?.dueMs ?? null
  }

  async due(skip: number): Promise<DueCron[]> {
    const { runner } = this.#engine
    const nowMs = runner.redisNowMs(this.#keys.shard)
    const limit = this.#quarantine.size + TICK_BATCH_MAX
    const reply = await runner.read((redis) =>
      redis.zrangebyscore(this.#keys.cronsDue, '-inf', nowMs, 'WITHSCORES', 'LIMIT', skip, limit),
    )
    return this.#read(this.#listed(reply).slice(0, TICK_BATCH_MAX), TICK_BATCH_BYTES_MAX)
  }

  async upcoming(afterMs: number, untilMs: number, limit: number): Promise<DueCron[]> {
    const reply = await this.#engine.runner.read((redis) =>
      redis.zrangebyscore(this.#keys.cronsDue, `(${afterMs}`, untilMs, 'WITHSCORES', 'LIMIT', 0, limit),
    )
    const listed = this.#listed(reply)
    const crons: DueCron[] = []
    let bytesLeft = UPCOMING_BYTES_MAX
    for (let i = 0; i < listed.length && bytesLeft > 0; i += READ_PAGE) {
      const page = await this.#read(listed.slice(i, i + READ_PAGE), bytesLeft)
      crons.push(...page)
      for (const { bytes } of page) bytesLeft -= bytes
    }
    return crons
  }

  /** @param reply ids, each with its score */
  #listed(reply: readonly string[]): ListedCron[] {
    const listed: ListedCron[] = []
    for (let i = 0; i < reply.length; i += 2) {
      const [id = '', dueMs] = [reply[i], Number(reply[i + 1])]
      if (!this.#quarantine.has(Number(id), dueMs)) listed.push({ id, dueMs })
    }
    return listed
  }

  /**
   * Reads crons in their order, at most this many bytes of definitions, but at least one. Quarantines crons it cannot
   * read.
   */
  async #read(listed: readonly ListedCron[], bytesMax: number): Promise<DueCron[]> {
    if (listed.length === 0) return []
    const { runner } = this.#engine
    const { cronStates, cronDefinitions } = this.#keys
    const texts = await runner.read((redis) => redis.hmget(cronStates, ...listed.map(({ id }) => id)))
    const page = withinBytes(
      listed.map((cron, i) => ({ ...cron, state: stateOf(texts[i] ?? null) })),
      bytesMax,
    )
    const definitions = await runner.read((redis) =>
      redis.hmget(cronDefinitions, ...page.map(({ id }) => id)),
    )
    const crons: DueCron[] = []
    const unreadable: Array<ListedCron & { reason: string }> = []
    page.forEach((cron, i) => {
      const read = this.#readable(cron, definitions[i] ?? null)
      if (typeof read === 'string') unreadable.push({ ...cron, reason: read })
      else crons.push(read)
    })
    if (unreadable.length > 0) await this.#quarantineListed(unreadable)
    return crons
  }

  #readable(cron: ReadCron, text: string | null): DueCron | string {
    try {
      return this.#dueCron(cron, text)
    } catch (error) {
      return reasonOf(error)
    }
  }

  /** Answers what is wrong with it when it cannot be read. */
  #dueCron({ id, state }: ReadCron, text: string | null): DueCron | string {
    if (state === null) return 'it has no state'
    if (state === 'damaged') return 'its state is damaged'
    const { version, tickMs, spreadMs, bytes, running } = state
    if (tickMs === null) return 'it has no next tick'
    const numbers = [version, tickMs, spreadMs, bytes, running ?? 0]
    if (!numbers.every(Number.isSafeInteger)) return 'its state is damaged'
    if (text === null) return 'it has no definition'
    const { team, name, settings } = definitionIn(text, state.isActive) ?? {}
    if (team === undefined || name === undefined || settings === undefined) return 'its definition is damaged'
    const isElsewhere =
      settings.queue !== null && shardOfQueue(this.#engine, team, settings.queue) !== this.#keys
    if (isElsewhere) return 'its queue lives elsewhere'
    return { cronId: Number(id), version, team, name, settings, bytes, expectedMs: tickMs, spreadMs, running }
  }

  /** Quarantines crons that are still listed; the others were removed or paused while they were read. */
  async #quarantineListed(crons: ReadonlyArray<ListedCron & { reason: string }>): Promise<void> {
    const scores = await this.#engine.runner.read((redis) =>
      redis.zmscore(this.#keys.cronsDue, ...crons.map(({ id }) => id)),
    )
    crons.forEach(({ id, dueMs, reason }, i) => {
      if (scores[i] !== null && Number(scores[i]) === dueMs)
        this.#quarantine.add({ cronId: Number(id) }, dueMs, reason)
    })
  }
}

/** One whose state cannot be read must not keep the others of its page from being read. */
function stateOf(text: string | null): ReadCron['state'] {
  if (text === null || text === '') return null
  try {
    return stateIn(text) ?? 'damaged'
  } catch {
    return 'damaged'
  }
}

function withinBytes(crons: readonly ReadCron[], bytesMax: number): ReadCron[] {
  const page: ReadCron[] = []
  let bytes = 0
  for (const cron of crons) {
    bytes += cron.state === null || cron.state === 'damaged' ? 0 : cron.state.bytes
    if (page.length > 0 && bytes > bytesMax) break
    page.push(cron)
  }
  return page
}
