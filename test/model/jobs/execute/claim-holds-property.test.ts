import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { afterAll, expect } from 'vitest'
import type { WindowResource } from '../../../../src/domain/windows/maintenance-window.ts'
import type { ClaimedWork } from '../../../../src/ports/jobs.ts'
import type { RedisConnection } from '../../../../src/redis/base/client/connection.ts'
import { RedisJobSource } from '../../../../src/redis/jobs/execute/job-source.ts'
import { REPEATED } from '../../../support/engine/drawn-seeds.ts'
import { createFakeWindows } from '../../../support/engine/fake-windows.ts'
import { grantOf } from '../../../support/engine/claim-grant.ts'
import { assertClean, ended, pushAll } from '../../../support/engine/model-executor.ts'
import { openConnection, openWorld, type World } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'

const RUNS = 20
const TEAMS = ['a', 'b', 'c', 'd', 'e', 'f']
/** More than a claim names. */
const QUEUES_MAX = 90

const team = fc.constantFrom(...TEAMS)
const name = fc.integer({ min: 0, max: 7 }).map((number) => `queue-${number}`)
const stories = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ op: fc.constant('push'), team, name, count: fc.integer({ min: 1, max: 12 }) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        op: fc.constant('push many'),
        team,
        count: fc.integer({ min: 1, max: QUEUES_MAX }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ op: fc.constant('hold'), team, name: fc.option(name, { freq: 3 }) }),
    },
    { weight: 1, arbitrary: fc.record({ op: fc.constant('clear') }) },
    {
      weight: 6,
      arbitrary: fc.record({
        op: fc.constant('claim'),
        by: fc.nat(1),
        slots: fc.integer({ min: 1, max: 64 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ op: fc.constant('finish') }) },
  ),
  { minLength: 10, maxLength: 40 },
)
type Op = (typeof stories extends fc.Arbitrary<infer T> ? T : never)[number]

/** What holds, kept the slow way. */
class Story {
  readonly #world: World
  readonly #windows = createFakeWindows()
  readonly #sources
  readonly #waiting = new Map<string, number>()
  readonly #working: Array<{ by: number; work: ClaimedWork }> = []
  #holds: string[] = []

  constructor(world: World) {
    this.#world = world
    this.#sources = ['e1', 'e2'].map(
      (id) => new RedisJobSource(world.engine, 0, id, { windows: this.#windows }),
    )
  }

  async run(ops: readonly Op[]): Promise<void> {
    for (const source of this.#sources) await source.beat(true)
    for (const op of ops) await this.#apply(op)
    await this.#drain()
    for (const [queue, count] of this.#waiting) {
      assert.ok(count === 0 || this.#isHeld(queue), `${count} jobs of ${queue} wait for nothing`)
    }
    await this.#apply({ op: 'clear' })
    await this.#drain()
    assert.equal(
      [...this.#waiting.values()].reduce((sum, count) => sum + count, 0),
      0,
    )
    await this.#finish()
    await assertClean(this.#world)
  }

  async #apply(op: Op): Promise<void> {
    switch (op.op) {
      case 'push':
        return this.#push(op.team, op.name, op.count)
      case 'push many':
        for (let i = 0; i < op.count; i += 1) await this.#push(op.team, `many-${i}`, 1)
        return
      case 'hold': {
        const resource: WindowResource | null = op.name === null ? null : { kind: 'queue', name: op.name }
        this.#windows.hold(op.team, resource)
        this.#holds.push(op.name === null ? op.team : `${op.team}/${op.name}`)
        return
      }
      case 'clear':
        this.#windows.clear()
        this.#holds = []
        return
      case 'claim':
        await this.#claim(op.by, op.slots)
        return
      case 'finish':
        return this.#finish()
    }
  }

  async #push(team: string, queue: string, count: number): Promise<void> {
    await pushAll(this.#world.newIntake(), count, { team, queue })
    const key = `${team}/${queue}`
    this.#waiting.set(key, (this.#waiting.get(key) ?? 0) + count)
  }

  async #claim(by: number, slots: number): Promise<number> {
    const source = this.#sources[by] ?? assert.fail()
    const answer = await source.claim(grantOf(slots))
    const works = answer.status === 'claimed' ? answer.work : []
    for (const work of works) {
      const key = work.kind === 'job' ? `${work.team}/${work.queueName}` : assert.fail(work.kind)
      assert.ok(!this.#isHeld(key), `a job of ${key} was claimed`)
      this.#waiting.set(key, (this.#waiting.get(key) ?? 0) - 1)
      this.#working.push({ by, work })
    }
    return works.length
  }

  /** Claims as a claim loop would, until nothing comes several times. */
  async #drain(): Promise<void> {
    for (let idle = 0; idle < 6;) idle = (await this.#claim(idle % 2, 64)) === 0 ? idle + 1 : 0
  }

  async #finish(): Promise<void> {
    for (const { by, work } of this.#working.splice(0))
      await this.#sources[by]?.finish([ended(this.#world, work)])
  }

  #isHeld(key: string): boolean {
    return this.#holds.includes(key) || this.#holds.includes(key.slice(0, key.indexOf('/')))
  }
}

let redis: TestRedis
let connection: RedisConnection
test.beforeAll(async ({ emptyRedis }) => {
  redis = emptyRedis
  connection = await openConnection(redis.url)
})
afterAll(() => connection.disconnect())

test('held jobs wait, and no others, whatever is held and whoever claims', { timeout: 60_000 }, async () => {
  const property = fc.asyncProperty(stories, async (ops) => {
    const world = await openWorld(redis, { connection, shards: 1 })
    try {
      await new Story(world).run(ops)
    } finally {
      world.close()
    }
  })
  const details = await fc.check(property, { numRuns: RUNS, ...REPEATED })
  expect(details.failed, fc.defaultReportMessage(details)).toBe(false)
})
