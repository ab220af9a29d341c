import assert from 'node:assert/strict'
import { cronScheduleOf, type CronSettings } from '../../../src/domain/crons/cron.ts'
import { decideCron } from '../../../src/executor/crons/cron-decision.ts'
import type { CronRun, CronStore, CronSource } from '../../../src/ports/crons.ts'
import type { ClaimedWork, JobSource } from '../../../src/ports/jobs.ts'
import { inspect } from '../../../src/redis/upkeep/inspection/inspect.ts'
import { createCronSource } from '../../../src/redis/crons/tick/cron-source.ts'
import { createCronStore } from '../../../src/redis/crons/cron-store.ts'
import { shardOfQueue } from '../../../src/redis/base/engine/engine.ts'
import { cronSettings } from '../../support/engine/cron-settings.ts'
import { claimed, ended, openExecutor } from '../../support/engine/model-executor.ts'
import type { World } from '../../support/engine/model-world.ts'
import { tickAll } from '../../support/engine/tick-all.ts'

export const TEAM = 'default'
export const NAME = 'nightly'
/** In three shards: the cron's home, where it lives without a queue, and two others. */
export type Place = 'home' | 'there' | 'elsewhere'

interface Claimed {
  readonly source: JobSource
  readonly work: ClaimedWork
}

/** One cron, in three shards, with an executor that does what a test says. */
export class CronStage {
  readonly world: World
  readonly store: CronStore
  /** Of every shard. */
  readonly sources: readonly CronSource[]
  #executors: readonly JobSource[] = []

  constructor(world: World) {
    this.world = world
    this.store = createCronStore(world.engine)
    this.sources = world.engine.shards.map(({ shard }) => createCronSource(world.engine, shard))
  }

  async openExecutors(): Promise<void> {
    const { shards } = this.world.engine
    this.#executors = await Promise.all(shards.map(({ shard }) => openExecutor(this.world, 'e1', shard)))
  }

  /** Settings that make the cron live there. */
  settings(place: Place, change: Partial<CronSettings> = {}): CronSettings {
    return cronSettings({ queue: place === 'home' ? null : this.#queueAt(place), ...change })
  }

  apply(place: Place, change: Partial<CronSettings> = {}) {
    return this.store.apply(TEAM, NAME, this.settings(place, change))
  }

  shardAt(place: Place): number {
    return this.homeOf(place === 'home' ? NAME : this.#queueAt(place))
  }

  homeOf(name: string): number {
    return shardOfQueue(this.world.engine, TEAM, name).shard
  }

  #queueAt(place: Place): string {
    const { engine } = this.world
    const nth = place === 'there' ? 1 : 2
    const shard = (shardOfQueue(engine, TEAM, NAME).shard + nth) % engine.shards.length
    for (let i = 0; ; i += 1)
      if (shardOfQueue(engine, TEAM, `queue-${i}`).shard === shard) return `queue-${i}`
  }

  /** Time passes, and executors tick what is due then, wherever it is. Answers how many runs that makes. */
  async passTo(unixMs: number): Promise<number> {
    const { clock } = this.world
    clock.advance(Math.max(0, unixMs - clock.wallMs))
    let started = 0
    for (const source of this.sources) {
      const due = await source.due(0)
      const decided = due.map((cron) => {
        const schedule = cronScheduleOf(cron.settings)
        assert.ok(!('problem' in schedule))
        return decideCron(schedule, cron, clock.wallMs)
      })
      started += (await tickAll(source, decided)).started
    }
    return started
  }

  /** All that waits, wherever it is, up to so much in each shard. */
  async claimAll(wanted = 10): Promise<Claimed[]> {
    const all: Claimed[] = []
    for (const source of this.#executors) {
      await source.beat(false)
      for (const work of await claimed(source, wanted)) all.push({ source, work })
    }
    return all
  }

  async finish(claims: readonly Claimed[]): Promise<void> {
    for (const { source, work } of claims) await source.finish([ended(this.world, work)])
  }

  async runs(): Promise<readonly CronRun[]> {
    const cron = await this.store.getByName(TEAM, NAME)
    assert.ok(cron !== null)
    const answer = await this.store.runs({ team: TEAM, cronId: cron.cronId, limit: 100, cursor: null })
    assert.ok(answer !== null && answer !== 'bad_cursor')
    return answer.runs
  }

  /** `<id>@<shard>` of every cron that is anywhere, found by its name or not. */
  async held(): Promise<string[]> {
    const { engine } = this.world
    const held = await Promise.all(
      engine.shards.map(async ({ cronStates: ks, shard }) => {
        const ids = await engine.runner.read((redis) => redis.hkeys(ks))
        return ids.map((id) => `${id}@${shard}`)
      }),
    )
    return held.flat()
  }

  /** The cron with this name, and no other, lives there; null = there is none. */
  async expectOnlyAt(place: Place | null): Promise<void> {
    const cron = await this.store.getByName(TEAM, NAME)
    assert.deepEqual(
      await this.held(),
      place === null ? [] : [`${cron?.cronId ?? 'none'}@${this.shardAt(place)}`],
    )
    assert.deepEqual(await inspect(this.world.engine), [])
  }
}
