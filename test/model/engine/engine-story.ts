import assert from 'node:assert/strict'
import { createSecretKey, randomBytes } from 'node:crypto'
import type { Redis } from 'ioredis'
import { StoreUnavailableError } from '../../../src/domain/errors.ts'
import { DEFAULT_QUEUE_SETTINGS, type QueueSettings } from '../../../src/domain/jobs/queue-settings.ts'
import type {
  ClaimedWork,
  ClaimGrant,
  JobSource,
  WorkEnd,
  JobIntake,
  NewJob,
  PushResult,
} from '../../../src/ports/jobs.ts'
import type { SettingsCompiler } from '../../../src/ports/settings.ts'
import type { RedisConnection } from '../../../src/redis/client/connection.ts'
import { createLeaderEpochs } from '../../../src/redis/control/leader-epochs.ts'
import { shardKeys, shardOfQueue } from '../../../src/redis/client/engine.ts'
import { RedisJobSource } from '../../../src/redis/execute/job-source.ts'
import { createJobStore } from '../../../src/redis/jobs/job-store.ts'
import { nameField } from '../../../src/redis/layout/keys.ts'
import { createQueueStore } from '../../../src/redis/queues/queue-store.ts'
import { purgeDeadLetters } from '../../../src/redis/retention/dead-letters.ts'
import { SecretBox } from '../../../src/redis/control/secret-box.ts'
import { createShardMaintenance } from '../../../src/redis/maintenance/shard-maintenance.ts'
import { callRecord, ended } from '../../support/engine/model-executor.ts'
import { openWorld, type World } from '../../support/engine/model-world.ts'
import type { SentStep } from '../../support/lua/wrapped-scripts.ts'
import { EngineModel, type DrawnEnd, type ModelQueue } from './engine-model.ts'
import {
  edited,
  QUEUES,
  queueAt,
  toGrant,
  toJob,
  type EditOp,
  type EndOp,
  type Op,
  type PushOp,
} from './engine-ops.ts'
import { differences, keepHead } from './engine-state.ts'
import { judgeRooms, readSentClaim } from '../execute/sent-claim.ts'
import { grantOf } from '../../support/engine/claim-grant.ts'

const SHARDS = 2
const BOX = new SecretBox(createSecretKey(randomBytes(32)))
const SUPERSEDED = { status: 'superseded' }
export const STORY_RETENTION = {
  failedCallsMax: 3,
  successfulCallsMax: 2,
  callRecordsMs: 1_800_000,
  callRecordsBytesMax: SHARDS * 4000,
  finishedChainsMax: 5,
  finishedChainsPerCronMax: 5,
  finishedChainsMs: 7_200_000,
}

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
  readonly #intakes: JobIntake[]
  readonly #store: ReturnType<typeof createJobStore>
  readonly #queues: ReturnType<typeof createQueueStore>
  readonly #holds: Hold[][]
  /** The leader before, and the one of now. */
  #leaders: SettingsCompiler[] = []
  #lastStep = new Map<string, SentStep>()
  #lastPush: { step: SentStep; atMs: number } | null = null

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
    this.#intakes = [world.newIntake(), world.newIntake()]
    this.#store = createJobStore(world.engine)
    this.#queues = createQueueStore(world.engine)
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
    world.newQueues = { ...DEFAULT_QUEUE_SETTINGS, retryDelays: [1, 70] }
    const story = new Story(world, redis.client)
    story.#leaders = [(await createLeaderEpochs(world.engine, BOX).begin()).compiler]
    await story.#lead()
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
        return this.#push(op.jobs, op.intake, op.resent)
      case 'push_again':
        return this.#pushAgain()
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
        return this.promote(op.shard)
      case 'sweep':
        return this.sweep(op.shard)
      case 'edit':
        return this.edit(op.queue, op.change, op.resent)
      case 'compile':
        return this.#compile(op.queue, op.change, op.resent)
      case 'lead':
        return this.#lead()
      case 'remove':
        return this.remove(op.queue, op.resent)
      case 'cancel':
        return this.#cancel(op.pick)
      case 'replay':
        return this.#replay(op.pick, op.resent)
      case 'purge':
        return this.#purge(op.pick)
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
      ...{ name, source, generation, known: [], openClaim: false, openFinish: null },
      ...{ note: null, isFinishNoted: false, highestToken: 0 },
    }
  }

  #hold(executor: number, shard: number): Hold {
    return this.#holds[executor]?.[shard] as Hold
  }

  async #push(ops: readonly PushOp[], intake: number, resent: boolean): Promise<void> {
    const jobs = ops.map((op) => toJob(op, this.world.clock.wallMs))
    if (resent) this.world.faults.resent.add('enqueue')
    const to = this.#intakes[intake] as JobIntake
    const answers = await Promise.all(jobs.map((job) => to.push(job)))
    this.world.faults.resent.delete('enqueue')
    for (const [i, job] of jobs.entries()) this.#judgePush(job, answers[i] as PushResult)
    const step = this.#lastStep.get('enqueue')
    this.#lastPush = step === undefined ? null : { step, atMs: this.world.clock.monotonicMs }
  }

  #judgePush(job: NewJob, answer: PushResult): void {
    const field = nameField(job.team, job.queue)
    const { shard } = shardOfQueue(this.world.engine, job.team, job.queue)
    let queue = this.model.queues.get(field)
    if ('queueId' in answer) {
      const localId = String(Math.floor(answer.queueId / SHARDS))
      queue ??= this.model.queueOf(field, shard, localId, true)
      assert.equal(answer.queueId, Number(queue.localId) * SHARDS + shard)
    }
    assert.ok(queue, `${JSON.stringify(answer)} came for a queue that is not there`)
    assert.equal(this.model.push(job, queue, answer), null)
  }

  /** The last enqueue once more, as an API process does that got no answer: nothing may change. */
  async #pushAgain(): Promise<void> {
    const last = this.#lastPush
    if (last === null || this.world.clock.monotonicMs - last.atMs > 10_000) return
    const { name, keys, args, reply: before } = last.step
    const after = ((await this.world.engine.runner.run({ name, keys, args })) as string).split(' ')
    const first = (before as string).split(' ')
    if (after[0] === 'day' || first[0] === 'day') return
    for (let i = 2; i < first.length; i += 3) {
      const expected = first[i] === 'ok' ? 'again' : first[i]
      assert.ok(after[i] === expected || after[i] === 'moved', `${first[i]} became ${after[i]}`)
      if (after[i] === 'again') assert.equal(after[i + 1], first[i + 1])
      if (after[i] === 'again' && after[i + 2] !== '-1') assert.equal(after[i + 2], first[i + 2])
    }
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
    const reply = step.reply as [string, string, string, string, number, string[], Array<string | number>]
    if (reply[0] === 'lost')
      return assert.ok(!this.model.hasLease(shard, hold.name), 'a lease was said to be lost')
    const [, now, token, , , , flat] = reply
    assert.equal(Number(now), this.model.shard(shard).nowMs)
    const sent = readSentClaim(step)
    const taken: Array<[string, number]> = []
    let bytes = 0
    for (let i = 0; i < flat.length; i += 4) {
      taken.push([String(sent.asked[(flat[i + 1] as number) - 1]), Number(flat[i])])
      bytes += Buffer.byteLength(String(flat[i + 2])) + Buffer.byteLength(String(flat[i + 3]))
    }
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
    assert.equal(answer.status === 'ok' ? answer.held : answer.status, expected)
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
    await this.promote(shard)
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
      await this.edit(pick, { max: null }, false)
      await this.edit(pick, { active: true }, false)
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
        await this.promote(shard)
      }
    }
  }

  /** Takes everything away that the program can take away: queues, remains, executors. */
  async clear(): Promise<void> {
    for (const pick of QUEUES.keys()) await this.remove(pick, false)
    for (const executor of [0, 1]) {
      for (const shard of [0, 1]) await this.#hold(executor, shard).source.leave()
    }
    // The leases of the others, and of names given up earlier, run out.
    for (const shard of [0, 1, 0, 1]) {
      this.world.clock.advance(4_500)
      await this.sweep(shard)
    }
    for (const shard of [0, 1]) await createShardMaintenance(this.world.engine, shard).reap()
  }

  /** Twice: the first answer brings the program's estimate of Redis time up to date. */
  async promote(shard: number): Promise<void> {
    const upkeep = createShardMaintenance(this.world.engine, shard)
    await upkeep.promote()
    await upkeep.promote()
    this.model.promote(shard)
  }

  async sweep(shard: number): Promise<void> {
    await this.promote(shard)
    const upkeep = createShardMaintenance(this.world.engine, shard)
    while ((await upkeep.sweep()).isMore);
    this.model.freeOverdue(shard)
    const { nowMs } = this.model.shard(shard)
    for (const [root, letter] of this.model.dead) {
      if (letter.queue.shard === shard && letter.purgeAtMs <= nowMs) this.model.dead.delete(root)
    }
    for (const queue of this.model.queues.values()) if (queue.shard === shard) await this.#acceptTrims(queue)
  }

  /** Retention may forget from the old end what is over its count or its age. */
  async #acceptTrims(queue: ModelQueue): Promise<void> {
    const keys = shardKeys(this.world.engine, queue.shard).queue(queue.localId)
    const { nowMs } = this.model.shard(queue.shard)
    const kept = new Set(await this.#client.lrange(keys.history, 0, -1))
    for (const [root, chain] of this.model.finished) {
      if (chain.queue !== queue || kept.has(String(root))) continue
      const ageMs = nowMs - chain.endedAtMs
      assert.ok(ageMs >= 30_000, `the chain ${root} was forgotten after ${ageMs} ms`)
      assert.ok(ageMs > STORY_RETENTION.finishedChainsMs || kept.size >= STORY_RETENTION.finishedChainsMax)
      this.model.finished.delete(root)
    }
    queue.failedCalls = keepHead(queue.failedCalls, await this.#client.lrange(keys.failedCalls, 0, -1))
    queue.successfulCalls = keepHead(
      queue.successfulCalls,
      await this.#client.lrange(keys.successfulCalls, 0, -1),
    )
  }

  async edit(pick: number, change: EditOp, resent: boolean): Promise<void> {
    const { team, name, field } = queueAt(pick)
    const settings = edited(this.model.queues.get(field)?.settings ?? this.world.newQueues, change)
    if (resent) this.world.faults.resent.add('set_queue')
    const { queueId } = await this.#queues.apply(team, name, settings)
    this.#settled(field, queueId, settings)
  }

  /** What a resource says, by the leader of now and by the one before it, whose writes change nothing. */
  async #compile(pick: number, change: EditOp, resent: boolean): Promise<void> {
    const { team, name, field } = queueAt(pick)
    const settings = edited(this.model.queues.get(field)?.settings ?? this.world.newQueues, change)
    const [former, current] = this.#leaders
    assert.deepEqual(await former?.applyQueue(team, name, { ...settings, timeoutSeconds: 299 }), SUPERSEDED)
    assert.deepEqual(await former?.removeQueue(team, name), {
      status: this.model.queues.has(field) ? 'superseded' : 'not_found',
    })
    if (resent) this.world.faults.resent.add('set_queue')
    const end = await current?.applyQueue(team, name, settings)
    assert.ok(end?.status === 'applied')
    this.#settled(field, end.queueId, settings).isPushed = false
  }

  #settled(field: string, queueId: number, settings: QueueSettings): ModelQueue {
    const localId = String(Math.floor(queueId / SHARDS))
    const queue = this.model.queueOf(field, queueId % SHARDS, localId, false)
    queue.settings = settings
    return queue
  }

  async #lead(): Promise<void> {
    const { compiler } = await createLeaderEpochs(this.world.engine, BOX).begin()
    this.#leaders = [this.#leaders.at(-1) as SettingsCompiler, compiler]
  }

  async remove(pick: number, resent: boolean): Promise<void> {
    const { team, name, field } = queueAt(pick)
    const answer = await this.#queues.remove(team, name)
    assert.equal(answer, this.model.queues.has(field) ? 'removed' : 'not_found')
    this.model.deleteQueue(field)
    const step = this.#lastStep.get('delete_queue')
    if (resent && answer === 'removed' && step !== undefined) {
      assert.equal(
        await this.world.engine.runner.run({ name: step.name, keys: step.keys, args: step.args }),
        'stale_id',
      )
    }
  }

  async #cancel(pick: number): Promise<void> {
    const jobs = [...this.model.jobs.values()].filter((job) => job.request !== null)
    const job = jobs[pick % Math.max(1, jobs.length)]
    if (job === undefined) return
    const answer = await this.#store.cancel(job.queue.team, job.id)
    assert.equal(answer, job.place === 'in_flight' ? 'in_flight' : 'cancelled')
    if (answer === 'in_flight') return
    this.model.jobs.delete(`${job.queue.key}|${job.id}`)
    this.#lastPush = null
    assert.notEqual(await this.#store.cancel(job.queue.team, job.id), 'cancelled')
  }

  async #replay(pick: number, resent: boolean): Promise<void> {
    const [rootId, letter] = [...this.model.dead][pick % Math.max(1, this.model.dead.size)] ?? []
    if (rootId === undefined || letter === undefined) return
    if (resent) this.world.faults.resent.add('replay')
    const answer = await this.#store.replay(letter.queue.team, rootId)
    assert.equal(answer.status, 'replayed')
    if (answer.status !== 'replayed') return
    this.model.replay(rootId, answer.jobId)
    assert.equal(answer.scheduledAtMs, this.model.shard(letter.queue.shard).nowMs)
    const again = await this.#store.replay(letter.queue.team, rootId)
    assert.deepEqual(again, { status: 'already_replayed', jobId: answer.jobId })
  }

  async #purge(pick: number): Promise<void> {
    const [rootId, letter] = [...this.model.dead][pick % Math.max(1, this.model.dead.size)] ?? []
    if (rootId === undefined || letter === undefined) return
    const { engine } = this.world
    const keys = shardKeys(engine, letter.queue.shard)
    const dead = { localId: letter.queue.localId, roots: [String(rootId), '0'], onlyDue: false }
    const removed = await purgeDeadLetters(engine, keys, dead)
    assert.equal(removed, 1)
    this.model.dead.delete(rootId)
    this.#lastPush = null
  }
}
