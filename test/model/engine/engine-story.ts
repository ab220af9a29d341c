import assert from 'node:assert/strict'
import type { Redis } from 'ioredis'
import { StoreUnavailableError } from '../../../src/domain/errors.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../../src/domain/jobs/queue-settings.ts'
import type { ClaimedWork, ClaimGrant, JobSource, WorkEnd } from '../../../src/ports/jobs.ts'
import type { RedisConnection } from '../../../src/redis/base/client/connection.ts'
import { RedisJobSource } from '../../../src/redis/jobs/execute/job-source.ts'
import { createShardMaintenance } from '../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { callRecord, ended } from '../../support/engine/model-executor.ts'
import { openWorld, type World } from '../../support/engine/model-world.ts'
import type { SentStep } from '../../support/lua/wrapped-scripts.ts'
import { EngineModel } from './engine-model.ts'
import type { DrawnEnd } from './model-records.ts'
import { QUEUES, toGrant, type EndOp, type Op } from './engine-ops.ts'
import { SHARDS, STORY_RETENTION, StoryCallers } from './story-callers.ts'
import { differences } from './engine-state.ts'
import { judgeRooms, readSentClaim } from '../jobs/execute/sent-claim.ts'
import { grantOf } from '../../support/engine/claim-grant.ts'

/** One executor's hold on one shard, as the executor itself sees it. */
interface Hold {
  readonly name: string
  readonly source: JobSource
  known: ClaimedWork[]
  openClaim: boolean
  openFinish: { ends: readonly WorkEnd[]; codes: string[] } | null
  /** The last claim as Redis noted it: gone when the executor is reaped. */
  note: { requestId: string; token: number; ids: number[] } | null
  isFinishNoted: boolean
  highestToken: number
  generation: number
}

/** Tells a drawn story to the real engine and to the model, and compares what they answer and where they stand. */
export class Story {
  readonly world: World
  readonly model: EngineModel
  readonly #client: Redis
  readonly callers: StoryCallers
  readonly #holds: Hold[][]
  #lastStep = new Map<string, SentStep>()

  constructor(world: World, client: Redis) {
    this.world = world
    this.#client = client
    this.model = new EngineModel(
      SHARDS,
      {
        failedCalls: STORY_RETENTION.failedCallsMax,
        successfulCalls: STORY_RETENTION.successfulCallsMax,
        callBytes: STORY_RETENTION.callRecordsBytesMax / SHARDS,
      },
      () => world.newQueues,
    )
    this.callers = new StoryCallers(world, { client, model: this.model, lastStep: this.#lastStep })
    world.faults.before = (step) => {
      const shard = world.engine.shards.findIndex((keys) => keys.clock === step.keys[0])
      if (shard >= 0) this.model.tick(shard, world.clock.wallMs)
    }
    world.faults.after = (step) => {
      this.#lastStep.set(step.name, step)
      if (step.name === 'check_ring') assert.equal(step.reply, 0, 'a queue stood wrong in the ring')
    }
    this.#holds = [0, 1, 2].map((executor) =>
      world.engine.shards.map((_, shard) => this.#newHold(executor, shard, 0)),
    )
  }

  static async begin(redis: { url: string; client: Redis }, connection: RedisConnection): Promise<Story> {
    const world = await openWorld(redis, { connection, shards: SHARDS, retention: STORY_RETENTION })
    world.newQueues = { ...DEFAULT_QUEUE_SETTINGS, retryDelays: [1, 70], alertsEnabled: true }
    const story = new Story(world, redis.client)
    await story.callers.lead()
    await story.callers.lead()
    for (const executor of [0, 1, 2]) {
      for (const shard of [0, 1]) await story.run({ op: 'beat', executor, shard, register: true })
    }
    return story
  }

  async compare(): Promise<void> {
    const found = await differences(this.#client, this.world.engine.shards, this.model)
    assert.deepEqual(found, [])
  }

  async run(op: Op): Promise<void> {
    switch (op.op) {
      case 'push':
        return this.callers.push(op.jobs, op.intake, op.resent)
      case 'push_again':
        return this.callers.pushAgain()
      case 'claim':
        await this.claim(
          op.executor,
          op.shard,
          toGrant(op.grant, this.model.queuesIn(op.shard)[0]?.localId),
          op.lost,
        )
        return
      case 'finish':
        return this.#finish(op)
      case 'beat':
        return this.#beat(op.executor, op.shard, op.register)
      case 'lapse':
        return this.#lapse(op.executor)
      case 'reap':
        return this.reap(op.shard)
      case 'give_back_unknown':
        return this.#releaseUnknown(op.executor, op.shard, op.known)
      case 'leave':
        return this.#leave(op.executor, op.shard)
      case 'promote':
        return this.callers.promote(op.shard)
      case 'sweep':
        return this.callers.sweep(op.shard)
      case 'edit':
        return this.callers.edit(op.queue, op.change, op.resent)
      case 'compile':
        return this.callers.compile(op.queue, op.change, op.resent)
      case 'lead':
        return this.callers.lead()
      case 'remove':
        return this.callers.remove(op.queue, op.resent)
      case 'cancel':
        return this.callers.cancel(op.pick)
      case 'replay':
        return this.callers.replay(op.pick, op.resent)
      case 'retry':
        return this.callers.retry(op.pick, op.resent)
      case 'fire':
        return this.callers.fire(op.pick, op.resent)
      case 'duplicate':
        return this.callers.duplicate(op.pick, op.resent)
      case 'purge':
        return this.callers.purge(op.pick)
      case 'advance':
        return this.world.clock.advance(op.ms)
      case 'jump':
        return this.world.clock.jump(op.ms)
    }
  }

  #newHold(executor: number, shard: number, generation: number): Hold {
    const name = `e${executor}.${generation}`
    const source = new RedisJobSource(this.world.engine, shard, name)
    return {
      name,
      source,
      generation,
      known: [],
      openClaim: false,
      openFinish: null,
      note: null,
      isFinishNoted: false,
      highestToken: 0,
    }
  }

  #hold(executor: number, shard: number): Hold {
    return this.#holds[executor]?.[shard] as Hold
  }

  async claim(executor: number, shard: number, grant: ClaimGrant, lost: boolean): Promise<number> {
    const hold = this.#hold(executor, shard)
    const { faults } = this.world
    for (const name of ['claim', 'claim_suspects'] as const) this.#lastStep.delete(name)
    if (lost) faults.lost.add('claim')
    let answer: Awaited<ReturnType<JobSource['claim']>> | null = null
    try {
      answer = await hold.source.claim(grant)
    } catch (error) {
      assert.ok(lost && error instanceof StoreUnavailableError, String(error))
    }
    faults.lost.delete('claim')
    const step = this.#lastStep.get('claim') ?? this.#lastStep.get('claim_suspects')
    if (step !== undefined) this.#judgeClaim(hold, shard, grant, step)
    hold.openClaim = answer === null
    // As the product does: whoever lost the lease comes back under another name. Its old work is stale.
    if (answer?.status === 'lease_lost') await this.#succeed(executor, shard, hold.known)
    if (answer?.status !== 'claimed') return 0
    const token = Number((step?.reply as unknown[] | undefined)?.[2] ?? 0)
    hold.highestToken = Math.max(hold.highestToken, token)
    for (const work of answer.work) {
      this.#judgeWork(work)
      hold.known.push(work)
    }
    return answer.work.length
  }

  #judgeClaim(hold: Hold, shard: number, grant: ClaimGrant, step: SentStep): void {
    const reply = step.reply as [string, string, string, ...unknown[]]
    if (reply[0] === 'lost')
      return assert.ok(!this.model.hasLease(shard, hold.name), 'a lease was said to be lost')
    const [, now, token] = reply
    const [flat, payloads] = [reply[6], reply[11]] as Array<Array<string | number>>
    assert.ok(flat !== undefined && payloads !== undefined)
    assert.equal(Number(now), this.model.shard(shard).nowMs)
    const sent = readSentClaim(step)
    const taken: Array<[string, number]> = []
    let bytes = 0
    for (let at = 0; at < flat.length;) {
      const queue = String(sent.asked[(flat[at] as number) - 1])
      const end = at + 2 + 2 * Number(flat[at + 1])
      for (at += 2; at < end; at += 2) {
        taken.push([queue, Number(flat[at])])
        bytes += Buffer.byteLength(String(flat[at + 1]))
      }
    }
    for (let at = 1; at < payloads.length; at += 2) bytes += Buffer.byteLength(String(payloads[at]))
    if (hold.note?.requestId === sent.requestId) {
      const held = this.model.shard(shard).held.get(hold.name)
      const { note } = hold
      const same = note.ids.filter((id) => {
        const entry = held?.get(id)
        return entry?.token === note.token && this.model.jobs.has(`${entry.queue.key}|${id}`)
      })
      assert.deepEqual(
        taken.map(([, id]) => id).toSorted((a, b) => a - b),
        same.toSorted((a, b) => a - b),
        'a claim sent again gave other jobs',
      )
      return
    }
    if (!hold.openClaim) assert.ok(sent.slots <= grant.slots && sent.bytes === grant.bytes)
    assert.ok(taken.length <= sent.slots && bytes <= sent.bytes, 'more was taken than granted')
    judgeRooms(sent, taken, (id) => this.model.teamOf(shard, id))
    assert.equal(this.model.claim(shard, hold.name, Number(token), taken), null)
    if (taken.length > 0)
      hold.note = { requestId: sent.requestId, token: Number(token), ids: taken.map(([, id]) => id) }
  }

  /** The work is what was pushed, with the settings its chain began with. */
  #judgeWork(work: ClaimedWork): void {
    const job = this.model.jobs.get(`${work.shard}:${work.location.queue}|${work.jobId}`)
    assert.ok(job !== undefined && work.kind !== 'damaged')
    assert.equal(work.scheduledAtMs, job.dueMs)
    assert.ok(job.dueMs <= this.model.shard(work.shard).highestMs, 'a job started before its time')
    if (work.kind === 'callback') return assert.equal(job.request, null)
    assert.deepEqual(work.request, job.request)
    assert.equal(work.attempt, job.attempt)
    assert.equal(work.createdAtMs, job.createdAtMs)
    assert.equal(work.earlier.length, job.attempt - 1)
    assert.equal(work.settings.timeoutSeconds, job.request?.timeoutSeconds ?? job.settings.timeoutSeconds)
    assert.deepEqual(work.settings.retryDelays, job.request?.retryDelays ?? job.settings.retryDelays)
  }

  async #finish(op: Extract<Op, { op: 'finish' }>): Promise<void> {
    const hold = this.#hold(op.executor, op.shard)
    const batch = hold.openFinish ?? this.#newFinish(hold, op)
    if (batch === null) return
    if (op.lost) this.world.faults.lost.add('finish')
    let codes: readonly string[] | null = null
    try {
      codes = await hold.source.finish(batch.ends)
    } catch (error) {
      assert.ok(op.lost && error instanceof StoreUnavailableError, String(error))
    }
    const isRepeat = hold.openFinish !== null
    if (!isRepeat) {
      this.#modelFinish(hold, op.shard, batch)
      if (batch.codes.includes('done')) hold.isFinishNoted = true
    }
    hold.openFinish = codes === null ? batch : null
    if (codes === null) return
    // A reaped executor's note of its last finish is gone with the rest.
    const isForgotten = isRepeat && !hold.isFinishNoted
    assert.deepEqual(codes, isForgotten ? batch.codes.map(() => 'stale') : batch.codes)
  }

  #newFinish(hold: Hold, op: Extract<Op, { op: 'finish' }>): Hold['openFinish'] {
    const works = hold.known.slice(0, op.ends.length)
    if (works.length === 0) return null
    if (!op.keeps) hold.known = hold.known.slice(op.ends.length)
    const ends = works.map((work, i) => this.#endOf(work, op.ends[i] as EndOp))
    if (op.twice && ends[0] !== undefined) ends.push(ends[0])
    return { ends, codes: [] }
  }

  #endOf(work: ClaimedWork, op: EndOp): WorkEnd {
    if (op.how === 'give_back') return { type: 'released', work }
    const call =
      work.kind !== 'job' || op.call === null
        ? {}
        : { call: callRecord(work, this.world.engine.runner.redisNowMs(work.shard), op.call) }
    return ended(this.world, work, { failed: op.how === 'failure', ...call })
  }

  #modelFinish(hold: Hold, shard: number, batch: NonNullable<Hold['openFinish']>): void {
    for (const end of batch.ends) {
      const { work } = end
      const drawn: DrawnEnd | null =
        end.type === 'released'
          ? null
          : {
              failed: end.type === 'ended' && end.end.kind !== 'success',
              endedAtMs: end.type === 'ended' ? (end.end.attempts.at(-1)?.completedAtMs ?? 0) : 0,
              call: end.type === 'ended' ? end.call : null,
            }
      batch.codes.push(this.model.finish(shard, hold.name, work.jobId, Number(work.token), drawn))
    }
  }

  async #beat(executor: number, shard: number, register: boolean): Promise<void> {
    const hold = this.#hold(executor, shard)
    const answer = await hold.source.beat(register)
    const expected = this.model.beat(shard, hold.name, register)
    assert.equal(answer.status === 'ok' ? answer.listed : answer.status, expected)
  }

  /** Eighteen seconds in which all executors but one beat. */
  async #lapse(executor: number): Promise<void> {
    for (let i = 0; i < 2; i += 1) {
      this.world.clock.advance(9_000)
      for (const other of [0, 1, 2].filter((one) => one !== executor)) {
        for (const shard of [0, 1]) await this.#beat(other, shard, false)
      }
    }
  }

  async reap(shard: number): Promise<void> {
    await this.callers.promote(shard)
    await createShardMaintenance(this.world.engine, shard).reap()
    for (const name of this.model.expired(shard)) {
      this.model.reap(shard, name)
      for (const hold of this.#holds.flatMap((holds) => holds)) {
        if (hold.name === name && hold.source.shard === shard) {
          hold.note = null
          hold.isFinishNoted = false
        }
      }
    }
  }

  async #releaseUnknown(executor: number, shard: number, known: number): Promise<void> {
    const hold = this.#hold(executor, shard)
    if (hold.openFinish !== null) return
    const kept = hold.known.slice(0, known)
    const keptIds = new Set(kept.map((work) => work.jobId))
    const count = await hold.source.releaseUnknown(keptIds)
    const held = [...(this.model.shard(shard).held.get(hold.name) ?? [])]
    const unknown = held.filter(([id, entry]) => !keptIds.has(id) && entry.token <= hold.highestToken)
    assert.equal(count, unknown.length)
    for (const [id, { token }] of unknown) this.model.finish(shard, hold.name, id, token, null)
    hold.known = kept
  }

  async #leave(executor: number, shard: number): Promise<void> {
    const hold = this.#hold(executor, shard)
    await hold.source.leave()
    const state = this.model.shard(shard)
    for (const [id, { token }] of state.held.get(hold.name) ?? []) {
      this.model.finish(shard, hold.name, id, token, null)
    }
    state.held.delete(hold.name)
    state.leases.delete(hold.name)
    await this.#succeed(executor, shard, [])
  }

  async #succeed(executor: number, shard: number, known: ClaimedWork[]): Promise<void> {
    const holds = this.#holds[executor] as Hold[]
    const next = this.#newHold(executor, shard, this.#hold(executor, shard).generation + 1)
    holds[shard] = { ...next, known }
    await this.#beat(executor, shard, true)
  }

  /** Ends everything that is left: every job that was accepted must come to an end. */
  async drain(): Promise<void> {
    for (const field of this.model.queues.keys()) {
      const pick = QUEUES.findIndex(({ field: each }) => each === field)
      await this.callers.edit(pick, { max: null }, false)
      await this.callers.edit(pick, { active: true }, false)
    }
    this.world.clock.advance(100_000_000)
    const ends = Array.from({ length: 64 }, (): EndOp => ({ how: 'success', call: null }))
    const common = { op: 'finish', ends, lost: false, twice: false, keeps: false } as const
    for (let round = 0; this.model.jobs.size > 0; round += 1) {
      assert.ok(round < 40, `${this.model.jobs.size} jobs never ended`)
      for (const shard of [0, 1]) {
        await this.reap(shard)
        for (const executor of [0, 1, 2]) {
          await this.#beat(executor, shard, true)
          while ((await this.claim(executor, shard, grantOf(64), false)) > 0);
          await this.#releaseUnknown(executor, shard, Infinity)
          do await this.#finish({ ...common, executor, shard })
          while (this.#hold(executor, shard).known.length > 0)
        }
      }
      this.world.clock.advance(80_000)
      // Steps in between, or the gap would be taken for a jump and stamp the leases of the lost anew.
      for (const shard of [0, 1, 0, 1, 0, 1]) {
        this.world.clock.advance(4_500)
        await this.callers.promote(shard)
      }
    }
  }

  /** Takes everything away that the program can take away: queues, remains, executors. */
  async clear(): Promise<void> {
    for (const pick of QUEUES.keys()) await this.callers.remove(pick, false)
    for (const executor of [0, 1]) {
      for (const shard of [0, 1]) await this.#hold(executor, shard).source.leave()
    }
    // The leases of the others, and of names given up earlier, run out.
    for (const shard of [0, 1, 0, 1]) {
      this.world.clock.advance(4_500)
      await this.callers.sweep(shard)
    }
    for (const shard of [0, 1]) await createShardMaintenance(this.world.engine, shard).reap()
  }
}
