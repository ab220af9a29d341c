import type { Engine } from '../../../src/redis/base/engine/engine.ts'
import { createLiveReader } from '../../../src/redis/watch/live/live-reader.ts'
import { createBacklogReader } from '../../../src/redis/jobs/queues/backlog-reader.ts'
import { occupiedQueues } from '../../../src/redis/jobs/queues/occupied-queues.ts'
import { createQueueStats } from '../../../src/redis/jobs/queues/queue-stats.ts'
import { createQueueStore } from '../../../src/redis/jobs/queues/queue-store.ts'
import { readParts } from '../../../src/redis/jobs/queues/queue-parts.ts'
import { createWaitExplainer } from '../../../src/redis/watch/wait-explainer.ts'
import type { World } from '../../support/engine/model-world.ts'
import type { EngineModel } from './engine-model.ts'
import type { ModelJob, ModelQueue } from './model-records.ts'

/** What a queue holds, by the one definition of it. */
interface Counts {
  readonly inLine: readonly ModelJob[]
  /** Suspects that wait; they are ready too. */
  readonly suspects: readonly ModelJob[]
  readonly inFlight: number
  readonly delayed: number
  readonly dead: number
}

/** Asks everything that counts jobs of queues, and says where it differs from the model. */
export async function readerDifferences(
  { engine, clock }: Pick<World, 'engine' | 'clock'>,
  model: EngineModel,
): Promise<string[]> {
  const readers = new Readers(engine, clock.wallMs, model)
  for (const [field, queue] of model.queues) await readers.compareQueue(field, queue)
  for (const team of new Set([...model.queues.values()].map((queue) => queue.team)))
    await readers.compareLive(team)
  await readers.compareBacklog()
  return readers.found
}

class Readers {
  readonly found: string[] = []
  readonly #engine: Engine
  readonly #nowMs: number
  readonly #model: EngineModel
  /** As the lists say it, of queues in which a job could start. */
  readonly #oldestOf = new Map<string, number>()

  constructor(engine: Engine, nowMs: number, model: EngineModel) {
    this.#engine = engine
    this.#nowMs = nowMs
    this.#model = model
  }

  #compare(what: string, real: unknown, expected: unknown): void {
    const [a, b] = [JSON.stringify(real), JSON.stringify(expected)]
    if (a !== b) this.found.push(`${what}: read ${a}, the model has ${b}`)
  }

  async compareQueue(field: string, queue: ModelQueue): Promise<void> {
    const { team, shard, localId } = queue
    const name = field.slice(team.length + 1)
    const counts = this.#countsOf(queue)
    const { inLine, suspects, inFlight, delayed, dead } = counts
    const ready = inLine.length + suspects.length
    const keys = this.#engine.shards[shard]
    if (keys === undefined) throw new Error(`no shard ${shard}`)
    const expected = { pending: ready, delayed, processing: inFlight, dead }

    const listed = await createQueueStore(this.#engine).getByName(team, name)
    this.#compare(`list of ${field}`, typeof listed === 'string' ? listed : listed?.counts, expected)
    const [status] = await createQueueStats(this.#engine).count([{ team, name }])
    this.#compare(`status of ${field}`, status?.counts, expected)
    const age = status?.oldestReadyMs ?? null
    if (!this.#agesOf(counts).includes(age))
      this.found.push(
        `status of ${field}: the oldest is ready for ${age}, not ${this.#agesOf(counts).join(' or ')}`,
      )
    if (age !== null && this.#mayStart(queue, counts))
      this.#oldestOf.set(team, Math.max(age, this.#oldestOf.get(team) ?? 0))

    const [read] = await readParts(this.#engine, keys, [localId])
    const sampled = [read?.counts.pending, read?.suspects, read?.slotsTaken, read?.oldestReadyMs]
    const slots = inFlight + suspects.length
    this.#compare(`statistics and limits of ${field}`, sampled, [ready, suspects.length, slots, age])
    const isFound = (await occupiedQueues(this.#engine, keys)).has(Number(localId))
    if (slots > 0 && !isFound) this.found.push(`${field} is no occupied queue`)
    for (const job of [inLine[0], suspects[0]]) if (job !== undefined) await this.#compareWait(job, counts)
  }

  #countsOf({ key }: ModelQueue): Counts {
    const jobs = this.#model.inQueue(key)
    const of = (place: ModelJob['place']) => jobs.filter((job) => job.place === place)
    return {
      inLine: of('ready').filter(({ losses }) => losses === 0),
      suspects: of('ready').filter(({ losses }) => losses > 0),
      inFlight: of('in_flight').length,
      delayed: of('delayed').length,
      dead: [...this.#model.dead.values()].filter(({ queue }) => queue.key === key).length,
    }
  }

  /** The ready list is in order but for what was given back, so its first job may be any of it. */
  #agesOf({ inLine, suspects }: Counts): ReadonlyArray<number | null> {
    const oldest = suspects.map(({ dueMs }) => dueMs)
    if (inLine.length + suspects.length === 0) return [null]
    const dues = inLine.length === 0 ? [Infinity] : inLine.map(({ dueMs }) => dueMs)
    return dues.map((due) => Math.max(0, this.#nowMs - Math.min(due, ...oldest)))
  }

  #freeSlots({ settings }: ModelQueue, { inFlight, suspects }: Counts): number {
    return Math.max(0, (settings.maxParallelism ?? Infinity) - inFlight - suspects.length)
  }

  /** Suspects keep their slots, of which a limit that was lowered leaves fewer. */
  #freeForSuspects({ settings: { maxParallelism } }: ModelQueue, { inFlight }: Counts): number {
    return Math.max(0, (maxParallelism ?? Infinity) - inFlight)
  }

  #mayStart(queue: ModelQueue, counts: Counts): boolean {
    if (!queue.settings.isActive) return false
    if (counts.suspects.length > 0 && this.#freeForSuspects(queue, counts) > 0) return true
    return counts.inLine.length > 0 && this.#freeSlots(queue, counts) > 0
  }

  async #compareWait(job: ModelJob, { inFlight, suspects }: Counts): Promise<void> {
    const explainer = createWaitExplainer(this.#engine, {
      windows: { ofTeam: () => [] },
      callQuotaOf: () => null,
    })
    const waiting = await explainer.explain(job.queue.team, job.id)
    const taken = job.losses > 0 ? inFlight : inFlight + suspects.length
    this.#compare(`wait of ${job.id}`, waiting?.facts.queue.taken, taken)
  }

  async compareLive(team: string): Promise<void> {
    const [reading] = await createLiveReader(this.#engine).read([{ team, before: null }])
    const jobs = [...this.#model.jobs.values()].filter((job) => job.queue.team === team)
    this.#compare(
      `live figures of ${team}`,
      [reading?.figures.pending, reading?.figures.inFlight, reading?.figures.oldestStartable?.ageMs ?? null],
      [
        jobs.length,
        jobs.filter(({ place }) => place === 'in_flight').length,
        this.#oldestOf.get(team) ?? null,
      ],
    )
  }

  async compareBacklog(): Promise<void> {
    const { ready, usable, inFlight, oldestReadyMs } = await createBacklogReader(this.#engine).read(0)
    const expected = { ready: 0, startable: 0 }
    const queues = [
      ...this.#model.queues.values(),
      ...this.#model.shards.flatMap(({ callbacks }) => [...callbacks.values()]),
    ]
    for (const queue of queues) {
      const counts = this.#countsOf(queue)
      if (!queue.settings.isActive) continue
      const free = this.#freeSlots(queue, counts)
      const most = this.#freeForSuspects(queue, counts)
      expected.ready += counts.suspects.length + (free > 0 ? counts.inLine.length : 0)
      expected.startable += Math.min(counts.suspects.length, most) + Math.min(counts.inLine.length, free)
    }
    const held = this.#model.shards.flatMap((shard) => [...shard.held.values()].map(({ size }) => size))
    this.#compare(
      'backlog',
      [ready, usable - inFlight, inFlight, oldestReadyMs !== null],
      [expected.ready, expected.startable, held.reduce((sum, size) => sum + size, 0), expected.ready > 0],
    )
  }
}
