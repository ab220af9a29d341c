import { cronScheduleOf, type CronSettings } from '../../../domain/crons/cron.ts'
import { StoreUnavailableError } from '../../../domain/errors.ts'
import { homeOfCron, shardOfQueue, type Engine } from '../../base/engine/engine.ts'
import { cronIdOf } from '../cron-reader.ts'
import { homeOfCronName, shardsOf } from '../cron-shards.ts'
import { CronSteps, NOTHING_BROUGHT } from './cron-steps.ts'
import { setCron, type AppliedCron, type ScheduledCron } from './set-cron.ts'

/** Retries for a cron that is moved or removed at the same time. */
const APPLY_TRIES_MAX = 4

/** Makes, changes, moves and removes crons. Throws StoreUnavailableError. */
export class CronWriter {
  readonly #engine: Engine
  readonly #epoch: number | null
  readonly #steps: CronSteps

  /** @param epoch of the leader; null = there is no leader */
  constructor(engine: Engine, epoch: number | null) {
    this.#engine = engine
    this.#epoch = epoch
    this.#steps = new CronSteps(engine, epoch)
  }

  async apply(
    team: string,
    name: string,
    settings: CronSettings,
    formerId: number | null,
  ): Promise<AppliedCron | { readonly status: 'superseded' }> {
    const schedule = cronScheduleOf(settings)
    // Before any change: a cron must not be left half moved.
    if ('problem' in schedule) throw new Error(`cron ${team}/${name}: ${schedule.field} ${schedule.problem}`)
    const home = homeOfCronName(this.#engine, team, name)
    for (let tries = 0; tries < APPLY_TRIES_MAX; tries += 1) {
      const cronId = await this.#steps.reserve(home, { team, name, formerId })
      if (cronId === 'superseded') return { status: cronId }
      const end = await this.#set({ cronId, home, team, name, settings, schedule })
      if (end === 'superseded') return { status: end }
      if (end !== 'conflict') return end
    }
    throw new StoreUnavailableError('The cron keeps being moved or removed')
  }

  /**
   * Sets the cron in the shard it belongs to. A cron that lives elsewhere is first noted in both shards and retired in the
   * old one, and dropped there only after the new shard has it, so that the next apply repairs a crash in between. Each
   * change of the note is a compare-and-set: when somebody else moves or removes the cron, this answers `conflict`.
   */
  async #set(cron: ScheduledCron): Promise<AppliedCron | 'superseded' | 'conflict'> {
    const { cronId, home, team, settings } = cron
    const target = settings.queue === null ? home : shardOfQueue(this.#engine, team, settings.queue)
    const noted = await shardsOf(this.#engine, cronId)
    const former = noted.filter((keys) => keys !== target)
    const shards = [target, ...former]
    const begun = former.length === 0 ? 'placed' : await this.#steps.place(cron, { from: noted, to: shards })
    if (begun !== 'placed') return begun === 'superseded' ? begun : 'conflict'
    let brought = NOTHING_BROUGHT
    for (const keys of former) {
      const retired = await this.#steps.retire(keys, cronId)
      if (retired === 'superseded') return retired
      if (retired.version > brought.version) brought = retired
    }
    const set = await setCron(this.#engine, cron, { keys: target, shards, brought, epoch: this.#epoch })
    if (typeof set === 'string') return set
    // A cron that stays at home has no note, and the step has checked that.
    if (shards.length === 1 && target === home) return set
    for (const keys of former) {
      if ((await this.#steps.drop(keys, cronId)) === 'superseded') return 'superseded'
    }
    const placed = await this.#steps.place(cron, { from: shards, to: [target] })
    if (placed === 'placed') return set
    if (placed === 'superseded') return placed
    // Removed meanwhile, by a caller that did not know of the new shard.
    if (placed === 'stale_id' && target !== home) await this.#steps.drop(target, cronId)
    return 'conflict'
  }

  /** The home shard goes last, with the name: until then the cron can be found and its removal be repeated. */
  async remove(team: string, name: string): Promise<'removed' | 'not_found' | 'superseded'> {
    const cronId = await cronIdOf(this.#engine, { team, name })
    if (cronId === null) return 'not_found'
    const home = homeOfCron(this.#engine, cronId)
    for (const keys of await shardsOf(this.#engine, cronId)) {
      if (keys !== home && (await this.#steps.drop(keys, cronId)) === 'superseded') return 'superseded'
    }
    const end = await this.#steps.remove({ cronId, home, team, name })
    // `stale_id`: another call, or an earlier send of this one, has removed it.
    return end === 'superseded' ? end : 'removed'
  }
}
