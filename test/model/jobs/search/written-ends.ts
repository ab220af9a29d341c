import assert from 'node:assert/strict'
import { DEFAULT_QUEUE_SETTINGS } from '../../../../src/domain/jobs/queue-settings.ts'
import type { KnownQueue } from '../../../../src/redis/base/names/known-queue.ts'
import { queueNamed } from '../../../../src/redis/base/names/team-names.ts'
import { encodeFinished } from '../../../../src/redis/base/layout/finished-record.ts'
import { createQueueStore } from '../../../../src/redis/jobs/queues/queue-store.ts'
import { jobRequest } from '../../../support/engine/engine.ts'
import type { World } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { TEAM } from './search-stage.ts'

/** How a chain of one attempt ended. */
export interface WrittenEnd {
  readonly endMs: number
  readonly isFailed?: boolean
  /** It is a dead letter that was replayed. */
  readonly isReplayed?: boolean
  /** Its summary is gone. */
  readonly isTombstone?: boolean
}

const { payload: _, headers: __, callDepth: ___, ...PLAIN } = jobRequest()

/** Puts ended chains into histories without steps, so that tests can have many, with the ends that they want. */
export class WrittenEnds {
  readonly #world: World
  readonly #redis: TestRedis
  readonly #queues = new Map<string, KnownQueue>()
  #written = 0

  constructor(world: World, redis: TestRedis) {
    this.#world = world
    this.#redis = redis
  }

  /** Adds chains to a queue, the oldest first. Answers their ids. */
  async add(queue: string, ends: readonly WrittenEnd[]): Promise<number[]> {
    const { keys, localId } = await this.#queue(queue)
    const { history, summaries } = keys.queue(localId)
    const roots = ends.map((_end, i) =>
      this.#world.engine.jobIds.idOf(keys.shard, 2 ** 30 + this.#written + i, 1),
    )
    this.#written += ends.length
    await this.#redis.client.lpush(history, ...roots.map(String))
    const kept = ends.flatMap((end, i) =>
      end.isTombstone === true ? [] : [String(roots[i]), summaryOf(end)],
    )
    if (kept.length > 0) await this.#redis.client.hset(summaries, ...kept)
    return roots
  }

  async #queue(name: string): Promise<KnownQueue> {
    const known = this.#queues.get(name)
    if (known !== undefined) return known
    const { engine } = this.#world
    await createQueueStore(engine).apply(TEAM, name, { ...DEFAULT_QUEUE_SETTINGS, retriesEnabled: false })
    const made = await queueNamed(engine, TEAM, name)
    assert.ok(made !== null)
    this.#queues.set(name, made)
    return made
  }
}

function summaryOf({ endMs, isReplayed = false, isFailed = isReplayed }: WrittenEnd): string {
  const attempt = {
    createdAtMs: endMs,
    scheduledAtMs: endMs,
    startedAtMs: endMs,
    completedAtMs: endMs,
    durationMs: 0,
    responseStatus: isFailed ? null : 200,
    failureReason: isFailed ? ('timeout' as const) : null,
    errorMessage: null,
  }
  return encodeFinished({
    end: isReplayed ? 'dead_lettered' : isFailed ? 'failed_no_retries' : 'success',
    attempts: [attempt],
    request: { ...PLAIN, headers: {} },
    replayedAs: isReplayed ? 1 : null,
    hadNoPayload: true,
  })
}
