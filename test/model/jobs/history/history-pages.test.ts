import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { describe } from 'vitest'
import type { JobFilter } from '../../../../src/domain/jobs/job-filter.ts'
import type { FailureReason } from '../../../../src/domain/jobs/job.ts'
import { forgetChains, trimFinished } from '../../../../src/redis/jobs/history/finished-chains.ts'
import { searchHistory } from '../../../../src/redis/jobs/history/search/search-history.ts'
import { REPEATED } from '../../../support/engine/drawn-seeds.ts'
import { assertClean } from '../../../support/engine/model-executor.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import { HistoryStage, NO_FILTER, type ChainPlan } from './history-stage.ts'

const HOUR_MS = 3_600_000
const HOSTS = ['a.test', 'b.test', 'c.test']
const REASONS = [null, 'timeout', 'http_server_error'] as const

/** What the slow model knows of a chain: what the test asked for, not what the product wrote. */
interface ModelChain {
  readonly id: number
  readonly host: string
  readonly tag: string
  readonly reason: FailureReason | null
  readonly endedAtMs: number
  isGone: boolean
}

type Act =
  | { readonly kind: 'finish'; readonly count: number; readonly seed: number }
  | { readonly kind: 'seal' }
  | { readonly kind: 'wait'; readonly hours: number }
  | { readonly kind: 'trim' }
  | { readonly kind: 'drop'; readonly count: number }
  | { readonly kind: 'delete'; readonly part: number; readonly count: number }
  | { readonly kind: 'page' }

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('finish' as const),
      count: fc.integer({ min: 1, max: 200 }),
      seed: fc.nat(99),
    }),
  },
  { weight: 3, arbitrary: fc.constant({ kind: 'seal' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), hours: fc.integer({ min: 1, max: 60 }) }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'trim' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('drop' as const), count: fc.integer({ min: 1, max: 300 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('delete' as const),
      part: fc.double({ min: 0, max: 1, noNaN: true }),
      count: fc.integer({ min: 1, max: 60 }),
    }),
  },
  { weight: 6, arbitrary: fc.constant({ kind: 'page' as const }) },
)

const RUNS = Number(process.env['HISTORY_RUNS'] ?? 20)

const asked = fc.record({
  kind: fc.constantFrom('all', 'host', 'tag', 'reason', 'success', 'ended', 'text'),
  at: fc.nat(99),
  limit: fc.integer({ min: 1, max: 120 }),
  examinedMax: fc.constantFrom(1, 40, 300, 100_000),
})

describe('pages of finished chains while the history changes', () => {
  let redis: TestRedis

  test.beforeAll(({ emptyRedis }) => {
    redis = emptyRedis
  })

  test('show each chain once that was there all the time, newest first', { timeout: 120_000 }, async () => {
    const property = fc.asyncProperty(
      fc.array(act, { minLength: 12, maxLength: 40 }),
      asked,
      async (acts, filter) => {
        const story = await Story.begin(redis, filter)
        try {
          for (const one of acts) await story.play(one)
          await story.end()
        } finally {
          story.stage.world.close()
        }
      },
    )
    await assert.doesNotReject(fc.assert(property, { numRuns: RUNS, ...REPEATED }))
  })
})

interface Asked {
  readonly kind: 'all' | 'host' | 'tag' | 'reason' | 'success' | 'ended' | 'text'
  readonly at: number
  readonly limit: number
  readonly examinedMax: number
}

/** One history, and one reader who pages through it while it changes, again and again. */
class Story {
  readonly stage: HistoryStage
  readonly #asked: Asked
  /** In the history, tombstones too, oldest first. */
  readonly #chains: ModelChain[] = []
  #from: number | null = null
  #isPaging = false
  #shown: number[] = []
  /** Of the filter by time, set when the paging begins. */
  #sinceMs = 0
  /** Chains that matched when the paging began. */
  #expected: ModelChain[] = []

  static async begin(redis: TestRedis, filter: Asked): Promise<Story> {
    const stage = await HistoryStage.open(redis)
    const story = new Story(stage, filter)
    await story.#finish(20, 0)
    return story
  }

  private constructor(stage: HistoryStage, filter: Asked) {
    this.stage = stage
    this.#asked = filter
  }

  async play(one: Act): Promise<void> {
    const { world, keys } = this.stage
    switch (one.kind) {
      case 'finish':
        return this.#finish(one.count, one.seed)
      case 'seal':
        return this.stage.seal()
      case 'wait':
        world.clock.advance(one.hours * HOUR_MS)
        return this.stage.beat()
      case 'trim':
        await trimFinished(world.engine, keys, '1')
        return this.#sync()
      case 'drop': {
        const oldest = this.#chains.slice(0, one.count)
        const roots = oldest.map(({ id }) => String(id)).reverse()
        const dropped = roots.length === 0 ? 0 : await forgetChains(world.engine, keys, '1', roots)
        if (dropped > 0) for (const chain of oldest) chain.isGone = true
        return this.#sync()
      }
      case 'delete': {
        const first = Math.floor(one.part * this.#chains.length)
        const chains = this.#chains.slice(first, first + one.count)
        await this.stage.bury(chains.map(({ id }) => id))
        for (const chain of chains) chain.isGone = true
        return
      }
      case 'page':
        return this.#page()
    }
  }

  /** Reads the rest, and compares with the inspection too. */
  async end(): Promise<void> {
    await assertClean(this.stage.world)
    if (!this.#isPaging) await this.#page()
    while (this.#isPaging) await this.#page()
  }

  /** Takes out what has left the history: only what was dropped, deleted or is old, as the executor trims by itself too. */
  async #sync(): Promise<void> {
    const kept = new Set(await this.stage.redis.client.lrange(this.stage.keys.queue('1').history, 0, -1))
    const nowMs = this.stage.world.clock.wallMs
    while (this.#chains[0] !== undefined && !kept.has(String(this.#chains[0].id))) {
      const chain = this.#chains.shift() as ModelChain
      assert.ok(chain.isGone || nowMs - chain.endedAtMs > 7 * 24 * HOUR_MS, `${chain.id} went too early`)
      chain.isGone = true
    }
    assert.equal(kept.size, this.#chains.length)
  }

  async #finish(count: number, seed: number): Promise<void> {
    const facts = Array.from({ length: count }, (_, i) => {
      const n = (seed * 31 + i * 7) % 100
      return {
        host: HOSTS[n % 3] as string,
        tag: `t${n}`,
        reason: n % 10 === 0 ? (REASONS[1 + (n % 2)] as FailureReason) : null,
      }
    })
    const plans = facts.map(({ host, tag, reason }): ChainPlan => ({
      url: `http://${host}/x`,
      tags: { name: tag },
      ...(reason === null ? {} : { failureReason: reason }),
    }))
    const ids = await this.stage.finish(plans)
    const endedAtMs = this.stage.world.clock.wallMs
    for (const [i, id] of ids.entries()) {
      this.#chains.push({ id, ...(facts[i] as (typeof facts)[number]), endedAtMs, isGone: false })
    }
  }

  async #page(): Promise<void> {
    await this.#sync()
    if (!this.#isPaging) {
      this.#isPaging = true
      this.#from = null
      this.#shown = []
      this.#sinceMs = this.stage.world.clock.wallMs - this.#asked.at * HOUR_MS
      this.#expected = this.#chains.filter((chain) => !chain.isGone && this.#matches(chain))
    }
    const { limit, examinedMax } = this.#asked
    const queue = await this.stage.queue()
    const page = await searchHistory(this.stage.world.engine, queue, this.#filter(), this.#from, {
      limit,
      examinedMax,
    })
    const place: number | null = page.next
    assert.ok(page.jobs.length <= limit)
    assert.ok(page.searched <= examinedMax)
    assert.ok(place === null || this.#from === null || place < this.#from, 'a page gets on')
    const there = new Map(this.#chains.map((chain) => [chain.id, chain]))
    for (const { jobId } of page.jobs) {
      const chain = there.get(jobId)
      assert.ok(chain !== undefined && !chain.isGone && this.#matches(chain), `${jobId} is no match`)
      this.#shown.push(jobId)
    }
    this.#from = place
    if (place === null) await this.#finishPaging()
  }

  async #finishPaging(): Promise<void> {
    this.#isPaging = false
    await this.#sync()
    const shown = new Set(this.#shown)
    assert.equal(shown.size, this.#shown.length, 'a chain was shown twice')
    const known = new Set(this.#expected.map(({ id }) => id))
    assert.ok(
      this.#shown.every((id) => known.has(id)),
      'a chain was shown that ended after the first page',
    )
    const missing = this.#expected.filter((chain) => !chain.isGone && !shown.has(chain.id))
    assert.deepEqual(
      missing.map(({ id }) => id),
      [],
      'chains were left out',
    )
    const order = new Map(this.#expected.map(({ id }, i) => [id, i]))
    const places = this.#shown.map((id) => order.get(id) ?? -1)
    assert.deepEqual(
      places,
      places.toSorted((a, b) => b - a),
      'newest first',
    )
  }

  #filter(): JobFilter {
    const { kind, at } = this.#asked
    switch (kind) {
      case 'all':
        return NO_FILTER
      case 'host':
        return { ...NO_FILTER, host: HOSTS[at % 3] as string }
      case 'tag':
        return { ...NO_FILTER, tag: { name: 'name', value: `t${at}` } }
      case 'reason':
        return { ...NO_FILTER, failureReason: at % 2 === 0 ? 'timeout' : 'http_server_error' }
      case 'success':
        return { ...NO_FILTER, finalStatus: 'success', status: 'completed' }
      case 'ended':
        return { ...NO_FILTER, ended: { afterMs: this.#sinceMs, beforeMs: null } }
      case 'text':
        return { ...NO_FILTER, text: (HOSTS[at % 3] as string).toUpperCase() }
    }
  }

  #matches(chain: ModelChain): boolean {
    const { kind, at } = this.#asked
    switch (kind) {
      case 'all':
        return true
      case 'host':
      case 'text':
        return chain.host === HOSTS[at % 3]
      case 'tag':
        return chain.tag === `t${at}`
      case 'reason':
        return chain.reason === (at % 2 === 0 ? 'timeout' : 'http_server_error')
      case 'success':
        return chain.reason === null
      case 'ended':
        return chain.endedAtMs >= this.#sinceMs
    }
  }
}
