import { reasonOf } from '../../../domain/errors.ts'
import type { Clock } from '../../../ports/runtime.ts'
import { shardKeys, type Engine } from '../../base/engine/engine.ts'
import { readHash } from '../../base/engine/paged-reads.ts'
import { readShardClock } from '../../base/engine/shard-clock.ts'
import { nameField, NO_QUEUE } from '../../base/layout/keys.ts'
import type { LostSteps } from './accepted-steps.ts'
import { tellLoss } from './tell-loss.ts'

/** Nothing less than this is noticed after a restart; so rarely is a small file no burden. */
const NOTED_EVERY_MS = 60_000
/** Stands for an intake in the name of the mark. */
const MARK = 'restart'
/** The mark of an earlier copy may have told of another range; then it is told anew, once. */
const TRIES_MAX = 2

/** What is kept outside of Redis: the time of the last step in each shard, Unix ms. */
export interface NotedTimes {
  /** Which installation they are of. */
  readonly installation: string
  readonly latestMs: readonly number[]
}

export interface OlderCopyOptions {
  readonly engine: Engine
  readonly clock: Pick<Clock, 'after'>
  /** null = nothing is noted yet. */
  read(): Promise<NotedTimes | null>
  write(times: NotedTimes): Promise<void>
}

/**
 * Notices, when everything is started again, that Redis holds an older copy of its data: a process that was not there
 * before has accepted nothing that it could miss. So the times of the last steps are noted outside of Redis, once a minute.
 * Owns the timer of the next note.
 *
 *     new → noting (a timer is set or a note is under way) → stopped
 *
 * `stop` waits for the last note.
 */
export class OlderCopyWatch {
  readonly #options: OlderCopyOptions
  #isStopped = false
  #noting: Promise<void> = Promise.resolve()
  #cancelTimer = (): void => undefined

  constructor(options: OlderCopyOptions) {
    this.#options = options
  }

  /** Must be called before anything steps: a step makes the last time a later one. Never throws. */
  async start(): Promise<void> {
    try {
      await this.#compare()
    } catch (error) {
      this.#options.engine.logger.warn('Whether Redis holds an older copy could not be found out', {
        reason: reasonOf(error),
      })
    }
    this.#noteLater()
  }

  async stop(): Promise<void> {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#cancelTimer()
    await this.#noting
    await this.note()
  }

  /** Never throws: what was noted before stands. */
  async note(): Promise<void> {
    const { engine, write } = this.#options
    try {
      const latestMs = await readLatest(engine)
      await write({ installation: installationOf(engine), latestMs })
    } catch (error) {
      engine.logger.debug('The times of the last steps were not noted', { reason: reasonOf(error) })
    }
  }

  #noteLater(): void {
    if (this.#isStopped) return
    this.#cancelTimer = this.#options.clock.after(NOTED_EVERY_MS, () => {
      this.#noting = this.note().then(() => this.#noteLater())
    })
  }

  async #compare(): Promise<void> {
    const { engine, read } = this.#options
    const noted = await read()
    if (noted === null || noted.installation !== installationOf(engine)) return
    const found = await readLatest(engine)
    const shards = found.flatMap((ms, shard) => (ms < (noted.latestMs[shard] ?? 0) ? [shard] : []))
    if (shards.length === 0) return
    await tellTeams(engine, {
      shards,
      fromMs: Math.min(...shards.map((shard) => found[shard] ?? 0)),
      toMs: Math.max(...shards.map((shard) => noted.latestMs[shard] ?? 0)),
    })
  }
}

function installationOf({ jobIds }: Engine): string {
  return jobIds.uuidOf(0)
}

function readLatest(engine: Engine): Promise<number[]> {
  return Promise.all(engine.shards.map(async (keys) => (await readShardClock(engine, keys)).latestMs ?? 0))
}

interface OlderCopy {
  readonly shards: readonly number[]
  /** How far the copy goes, and how far Redis had got. */
  readonly fromMs: number
  readonly toMs: number
}

/** Tells every team that has anything in these shards, in the first of them, so that none is told by several. */
async function tellTeams(engine: Engine, { shards, fromMs, toMs }: OlderCopy): Promise<void> {
  const teams = new Set<string>()
  for (const shard of shards)
    for (const team of (await readHash(engine, shardKeys(engine, shard).teamNumbers)).keys()) teams.add(team)
  const queues = Array.from(teams, (team) => ({
    field: nameField(team, ''),
    localId: NO_QUEUE,
    count: 0,
    fromMs,
    toMs,
  }))
  let lost: LostSteps = { from: 0, to: toMs }
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const keys = shardKeys(engine, shards[0] ?? 0)
    const answer = await tellLoss(engine, keys, { intake: MARK, answered: toMs, lost, queues })
    if (answer === 'told' || answer === 'nothing') break
    lost = answer
  }
  engine.metrics.jobsLost(0)
  engine.logger.error('Redis holds an older copy of its data', {
    copyOf: new Date(fromMs).toISOString(),
    answeredUntil: new Date(toMs).toISOString(),
    shards,
    teams: teams.size,
    advice: 'Jobs accepted in between are gone: see "PunctualJobsLost" in docs/runbooks.md.',
  })
}
