import assert from 'node:assert/strict'
import { createSecretKey, randomBytes } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { QueueSettings } from '../../../src/domain/jobs/queue-settings.ts'
import type { JobIntake, NewJob, PushResult } from '../../../src/ports/jobs.ts'
import type { SettingsCompiler } from '../../../src/ports/settings.ts'
import { shardKeys, shardOfQueue } from '../../../src/redis/base/engine/engine.ts'
import { createLeaderEpochs } from '../../../src/redis/control/leader-epochs.ts'
import { SecretBox } from '../../../src/redis/base/secret-box.ts'
import { createJobStore } from '../../../src/redis/jobs/job-store.ts'
import { nameField, splitNameField } from '../../../src/redis/base/layout/keys.ts'
import { createShardMaintenance } from '../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { createQueueStore } from '../../../src/redis/jobs/queues/queue-store.ts'
import { purgeDeadLetters } from '../../../src/redis/ledger/retention/dead-letters.ts'
import type { World } from '../../support/engine/model-world.ts'
import type { SentStep } from '../../support/lua/wrapped-scripts.ts'
import type { EngineModel } from './engine-model.ts'
import type { ModelJob, ModelQueue } from './model-records.ts'
import { edited, queueAt, toJob, type EditOp, type PushOp } from './engine-ops.ts'
import { keepHead } from './engine-state.ts'
import { AN_ACTOR } from '../../support/principals.ts'

export const SHARDS = 2
export const STORY_RETENTION = {
  failedCallsMax: 3,
  successfulCallsMax: 2,
  callRecordsMs: 1_800_000,
  callRecordsBytesMax: SHARDS * 4000,
  finishedChainsKept: 5,
  finishedChainsPerCronMax: 5,
  finishedChainsMs: 7_200_000,
}
const BOX = new SecretBox(createSecretKey(randomBytes(32)))
/** As in fire-job.ts. */
const FIRED_SLACK_MS = 1_000
const SUPERSEDED = { status: 'superseded' }

/** What the APIs, the leader and the maintenance do in a story, to the real engine and to the model. */
export class StoryCallers {
  readonly #world: World
  readonly #client: Redis
  readonly #model: EngineModel
  readonly #lastStep: ReadonlyMap<string, SentStep>
  readonly #intakes: readonly JobIntake[]
  readonly #store: ReturnType<typeof createJobStore>
  readonly #queues: ReturnType<typeof createQueueStore>
  /** The leader before, and the current one. */
  #leaders: SettingsCompiler[] = []
  #lastPush: { step: SentStep; atMs: number } | null = null

  constructor(
    world: World,
    story: { client: Redis; model: EngineModel; lastStep: ReadonlyMap<string, SentStep> },
  ) {
    this.#world = world
    this.#client = story.client
    this.#model = story.model
    this.#lastStep = story.lastStep
    this.#intakes = [world.newIntake(), world.newIntake()]
    this.#store = createJobStore(world.engine)
    this.#queues = createQueueStore(world.engine)
  }

  async push(ops: readonly PushOp[], intake: number, resent: boolean): Promise<void> {
    await this.#send(
      ops.map((op) => toJob(op, this.#world.clock.wallMs)),
      intake,
      resent,
    )
  }

  async #send(jobs: readonly NewJob[], intake: number, resent: boolean): Promise<void> {
    if (resent) this.#world.faults.resent.add('enqueue')
    const to = this.#intakes[intake] as JobIntake
    const answers = await Promise.all(jobs.map((job) => to.push(job)))
    this.#world.faults.resent.delete('enqueue')
    for (const [i, job] of jobs.entries()) this.#judgePush(job, answers[i] as PushResult)
    const step = this.#lastStep.get('enqueue')
    this.#lastPush = step === undefined ? null : { step, atMs: this.#world.clock.monotonicMs }
  }

  #judgePush(job: NewJob, answer: PushResult): void {
    const field = nameField(job.team, job.queue)
    const { shard } = shardOfQueue(this.#world.engine, job.team, job.queue)
    let queue = this.#model.queues.get(field)
    if ('queueId' in answer) {
      const localId = String(Math.floor(answer.queueId / SHARDS))
      queue ??= this.#model.queueOf(field, shard, localId, true)
      assert.equal(answer.queueId, Number(queue.localId) * SHARDS + shard)
    }
    assert.ok(queue, `${JSON.stringify(answer)} came for a queue that is not there`)
    assert.equal(this.#model.push(job, queue, answer), null)
  }

  /** The last enqueue once more, as an API process does that got no answer: nothing may change. */
  async pushAgain(): Promise<void> {
    const last = this.#lastPush
    if (last === null || this.#world.clock.monotonicMs - last.atMs > 10_000) return
    const { name, keys, args, reply: before } = last.step
    const [first, after] = [before, await this.#world.engine.runner.run({ name, keys, args })].map(answersIn)
    if (first === undefined || after === undefined) return
    for (const [i, [code, a, b]] of after.entries()) {
      const [was, ...known]: readonly string[] = first[i] ?? []
      assert.ok(code === (was === 'ok' ? 'again' : was) || code === 'moved', `${was} became ${code}`)
      if (code === 'again') assert.deepEqual(b === '-1' ? [a] : [a, b], b === '-1' ? [known[0]] : known)
    }
  }

  /** Twice: the first answer brings the program's estimate of Redis time up to date. */
  async promote(shard: number): Promise<void> {
    const upkeep = createShardMaintenance(this.#world.engine, shard)
    await upkeep.promote()
    await upkeep.promote()
    this.#model.promote(shard)
  }

  async sweep(shard: number): Promise<void> {
    await this.promote(shard)
    const upkeep = createShardMaintenance(this.#world.engine, shard)
    while ((await upkeep.sweep()).isMore);
    this.#model.freeOverdue(shard)
    const { nowMs } = this.#model.shard(shard)
    for (const [root, letter] of this.#model.dead) {
      if (letter.queue.shard === shard && letter.purgeAtMs <= nowMs) this.#model.dead.delete(root)
    }
    for (const queue of this.#model.queues.values()) if (queue.shard === shard) await this.#acceptTrims(queue)
  }

  /** Retention may forget from the old end what is over its count or its age. */
  async #acceptTrims(queue: ModelQueue): Promise<void> {
    const keys = shardKeys(this.#world.engine, queue.shard).queue(queue.localId)
    const { nowMs } = this.#model.shard(queue.shard)
    const kept = new Set(await this.#client.lrange(keys.history, 0, -1))
    for (const [root, chain] of this.#model.finished) {
      if (chain.queue !== queue || kept.has(String(root))) continue
      const ageMs = nowMs - chain.endedAtMs
      assert.ok(ageMs >= 30_000, `the chain ${root} was forgotten after ${ageMs} ms`)
      assert.ok(ageMs > STORY_RETENTION.finishedChainsMs || kept.size >= STORY_RETENTION.finishedChainsKept)
      this.#model.finished.delete(root)
    }
    queue.failedCalls = keepHead(queue.failedCalls, await this.#client.lrange(keys.failedCalls, 0, -1))
    queue.successfulCalls = keepHead(
      queue.successfulCalls,
      await this.#client.lrange(keys.successfulCalls, 0, -1),
    )
  }

  async edit(pick: number, change: EditOp, resent: boolean): Promise<void> {
    const { team, name, field } = queueAt(pick)
    const settings = edited(this.#model.queues.get(field)?.settings ?? this.#world.newQueues, change)
    if (resent) this.#world.faults.resent.add('set_queue')
    const { queueId } = await this.#queues.apply(team, name, settings)
    this.#settled(field, queueId, settings)
  }

  /** What a resource says, by the leader of now and by the one before it, whose writes change nothing. */
  async compile(pick: number, change: EditOp, resent: boolean): Promise<void> {
    const { team, name, field } = queueAt(pick)
    const settings = edited(this.#model.queues.get(field)?.settings ?? this.#world.newQueues, change)
    const [former, current] = this.#leaders
    assert.deepEqual(await former?.applyQueue(team, name, { ...settings, timeoutSeconds: 299 }), SUPERSEDED)
    assert.deepEqual(await former?.removeQueue(team, name), {
      status: this.#model.queues.has(field) ? 'superseded' : 'not_found',
    })
    if (resent) this.#world.faults.resent.add('set_queue')
    const end = await current?.applyQueue(team, name, settings)
    assert.ok(end?.status === 'applied')
    this.#settled(field, end.queueId, settings).isPushed = false
  }

  #settled(field: string, queueId: number, settings: QueueSettings): ModelQueue {
    const localId = String(Math.floor(queueId / SHARDS))
    const queue = this.#model.queueOf(field, queueId % SHARDS, localId, false)
    queue.settings = settings
    return queue
  }

  async lead(): Promise<void> {
    const { compiler } = await createLeaderEpochs(this.#world.engine, BOX).begin()
    this.#leaders = [...this.#leaders.slice(-1), compiler]
  }

  async remove(pick: number, resent: boolean): Promise<void> {
    const { team, name, field } = queueAt(pick)
    const answer = await this.#queues.remove(team, name)
    assert.equal(answer, this.#model.queues.has(field) ? 'removed' : 'not_found')
    this.#model.deleteQueue(field)
    const step = this.#lastStep.get('delete_queue')
    if (resent && answer === 'removed' && step !== undefined) {
      assert.equal(
        await this.#world.engine.runner.run({ name: step.name, keys: step.keys, args: step.args }),
        'stale_id',
      )
    }
  }

  async cancel(pick: number): Promise<void> {
    const job = this.#pickJob(pick)
    if (job === undefined) return
    const answer = await this.#store.remove(job.queue.team, job.id, AN_ACTOR, false)
    assert.equal(answer.status, job.place === 'in_flight' ? 'in_flight' : 'removed')
    if (answer.status === 'in_flight') return
    this.#model.cancel(job)
    this.#lastPush = null
    const again = await this.#store.remove(job.queue.team, job.id, AN_ACTOR, false)
    assert.notEqual(again.status, 'removed')
  }

  async replay(pick: number, resent: boolean): Promise<void> {
    const [rootId, letter] = [...this.#model.dead][pick % Math.max(1, this.#model.dead.size)] ?? []
    if (rootId === undefined || letter === undefined) return
    if (resent) this.#world.faults.resent.add('remake_page')
    const answer = await this.#store.replay(letter.queue.team, rootId, AN_ACTOR)
    assert.equal(answer.status, 'made')
    if (answer.status !== 'made') return
    this.#model.replay(rootId, answer.jobId, 'replay')
    assert.equal(answer.scheduledAtMs, this.#model.shard(letter.queue.shard).nowMs)
    const again = await this.#store.replay(letter.queue.team, rootId, AN_ACTOR)
    assert.deepEqual(again, { status: 'already_made', jobId: answer.jobId })
  }

  async retry(pick: number, resent: boolean): Promise<void> {
    const ended = [...this.#model.finished, ...this.#model.dead]
    const [rootId, chain] = ended[pick % Math.max(1, ended.length)] ?? []
    // A large payload is kept only as long as the record of a call.
    if (rootId === undefined || chain === undefined || chain.request.payload !== null) return
    // Records of calls have bodies of their own in a story, and a retry sends what was sent.
    const { jobIds } = this.#world.engine
    if ('end' in chain && chain.queue.failedCalls.some(({ jobId }) => jobIds.rootOf(jobId) === rootId)) return
    if (resent) this.#world.faults.resent.add('remake_page')
    const { team, shard } = chain.queue
    const answer = await this.#store.retry(team, rootId, AN_ACTOR)
    this.#world.faults.resent.delete('remake_page')
    if ('madeId' in chain && chain.madeId !== null) {
      return assert.deepEqual(answer, { status: 'already_made', jobId: chain.madeId })
    }
    if ('end' in chain && chain.end === 'success') return assert.deepEqual(answer, { status: 'not_failed' })
    assert.ok(answer.status === 'made', answer.status)
    if ('end' in chain) this.#model.retry(rootId, answer.jobId)
    else this.#model.replay(rootId, answer.jobId, 'retry')
    assert.equal(answer.scheduledAtMs, this.#model.shard(shard).nowMs)
    const again = await this.#store.retry(team, rootId, AN_ACTOR)
    assert.deepEqual(again, { status: 'already_made', jobId: answer.jobId })
  }

  async fire(pick: number, resent: boolean): Promise<void> {
    const job = this.#pickJob(pick)
    if (job === undefined) return
    const { queue, id, place, dueMs } = job
    if (resent) this.#world.faults.resent.add('open_page')
    const askedMs = this.#world.engine.runner.redisNowMs(queue.shard)
    const { status } = await this.#store.fire(queue.team, id, AN_ACTOR)
    this.#world.faults.resent.delete('open_page')
    const { nowMs } = this.#model.shard(queue.shard)
    const isFired = place === 'delayed' && dueMs > nowMs
    // Sent again it finds the job due. What became due a moment ago counts as fired: the estimate of the time in Redis may
    // be ahead, and so far ahead when the clock has jumped back that the answer is `due`.
    const isSeenDue = !isFired || resent
    const isDueNow = (isFired ? nowMs : dueMs) >= askedMs - FIRED_SLACK_MS
    assert.equal(status, !isSeenDue || isDueNow ? 'fired' : place === 'in_flight' ? 'in_flight' : 'due')
    if (!isFired) return
    this.#model.fire(job)
    this.#lastPush = null
  }

  async duplicate(pick: number, resent: boolean): Promise<void> {
    const job = this.#pickJob(pick)
    const field = [...this.#model.queues].find(([, queue]) => queue === job?.queue)?.[0]
    if (job?.request === undefined || job.request === null || field === undefined) return
    const { team, queue } = splitNameField(field)
    const duplicate = { of: job.id, actor: AN_ACTOR, changed: ['delay'] }
    const start = { delaySeconds: 0 }
    await this.#send([{ team, queue, request: job.request, start, idempotency: null, duplicate }], 0, resent)
  }

  #pickJob(pick: number): ModelJob | undefined {
    const jobs = [...this.#model.jobs.values()].filter((job) => job.request !== null)
    return jobs[pick % Math.max(1, jobs.length)]
  }

  async purge(pick: number): Promise<void> {
    const [rootId, letter] = [...this.#model.dead][pick % Math.max(1, this.#model.dead.size)] ?? []
    if (rootId === undefined || letter === undefined) return
    const { engine } = this.#world
    const keys = shardKeys(engine, letter.queue.shard)
    const dead = { localId: letter.queue.localId, roots: [String(rootId), '0'], onlyDue: false }
    const removed = await purgeDeadLetters(engine, keys, dead)
    assert.equal(removed, 1)
    this.#model.dead.delete(rootId)
    this.#lastPush = null
  }
}

/** Code and two words of each job, from 'now woken', then 'jobs code a b' for as many in a row; none of 'day'. */
function answersIn(reply: unknown): readonly (readonly string[])[] {
  const words = String(reply).split(' ').slice(2)
  return words.flatMap((jobs, i) =>
    i % 4 === 0 ? Array.from({ length: Number(jobs) }, () => words.slice(i + 1, i + 4)) : [],
  )
}
