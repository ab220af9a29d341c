import { forgetAlerts } from '../../../src/redis/ledger/alerts/forget-alerts.ts'
import { ALERT_RETENTION_DAYS, LOST_LEASES_MAX } from '../../../src/domain/limits.ts'
import assert from 'node:assert/strict'
import { createSecretKey, randomBytes } from 'node:crypto'
import type { Redis } from 'ioredis'
import { DEFAULT_QUEUE_SETTINGS, type QueueSettings } from '../../../src/domain/jobs/queue-settings.ts'
import { ENQUEUE } from '../../../src/redis/jobs/enqueue/enqueue-batch.ts'
import type { ClaimedJob, ClaimedWork, WorkEnd, JobIntake } from '../../../src/ports/jobs.ts'
import { createBacklogReader } from '../../../src/redis/jobs/queues/backlog-reader.ts'
import { createLeaderEpochs } from '../../../src/redis/control/leader-epochs.ts'
import { shardKeys } from '../../../src/redis/base/engine/engine.ts'
import { createJobStore } from '../../../src/redis/jobs/job-store.ts'
import { RedisJobSource } from '../../../src/redis/jobs/execute/job-source.ts'
import { createQueueStore } from '../../../src/redis/jobs/queues/queue-store.ts'
import { purgeDeadLetters } from '../../../src/redis/ledger/retention/dead-letters.ts'
import { trimFinished } from '../../../src/redis/jobs/history/finished-chains.ts'
import type { StepName } from '../../../src/redis/steps.ts'
import { sealAllAnew } from '../../../src/redis/control/compiler/reseal.ts'
import { SecretBox } from '../../../src/redis/base/secret-box.ts'
import { createShardMaintenance } from '../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { readShardUsage } from '../../../src/redis/ledger/quotas/usage-reader.ts'
import { createFakeWindows } from '../../support/engine/fake-windows.ts'
import { newJob } from '../../support/engine/engine.ts'
import {
  callRecord,
  claimed,
  ended,
  openExecutor,
  pushAll,
  pushOne,
} from '../../support/engine/model-executor.ts'
import type { World } from '../../support/engine/model-world.ts'
import { ACCESS_SCENES } from '../control/access/access-scenes.ts'
import { AUDIT_SCENES } from '../ledger/audit-log/audit-scenes.ts'
import { SESSION_SCENES } from '../control/sessions/session-scenes.ts'
import { BULK_SCENES } from '../jobs/bulk/bulk-scenes.ts'
import { ALERT_SCENES } from '../ledger/alerts/alert-scenes.ts'
import { ISSUE_SCENES } from '../ledger/issues/issue-scenes.ts'
import { LIMIT_SCENES } from '../ledger/alerts/limit-scenes.ts'
import { DOCTOR_SCENES } from '../upkeep/inspection/doctor-scenes.ts'
import { HISTORY_SCENES } from '../jobs/history/history-scenes.ts'
import { FLOW_SCENES } from '../jobs/flow/flow-scenes.ts'
import { LOSS_SCENES } from '../jobs/losses/loss-scenes.ts'
import { MENDING_SCENES } from '../jobs/mending/mending-scenes.ts'
import { CRON_SCENES } from '../crons/cron-scenes.ts'
import { CHANNEL_SCENES } from '../ledger/notifications/channel-scenes.ts'
import { NAMESPACE_SCENES } from '../control/namespaces/erase-scenes.ts'
import { STATISTICS_SCENES } from '../watch/statistics/statistics-scenes.ts'
import { grantOf } from '../../support/engine/claim-grant.ts'
import { AN_ACTOR } from '../../support/principals.ts'
import { queuePages } from '../../support/engine/lists/queue-pages.ts'

/** A stage for one step: what was there before, and who sends the step. */
export interface Stage {
  readonly world: World
  readonly client: Pick<Redis, 'del' | 'pipeline' | 'zadd'>
  readonly intake: JobIntake
  /** Ids that a push answered, or, when it was torn, would have answered. */
  readonly accepted: number[]
}

/** Sets the stage; answers what makes the product send the step, and send it again after a fault. */
export type Scene = (stage: Stage) => Promise<() => Promise<unknown>>

const KEY = createSecretKey(randomBytes(32))
const BOX = new SecretBox(KEY)
const LARGE = JSON.stringify('x'.repeat(5000))

export const SCENES: ReadonlyArray<readonly [StepName, string, Scene]> = [
  ...ACCESS_SCENES,
  ...ALERT_SCENES,
  ...ISSUE_SCENES,
  ...BULK_SCENES,
  ...AUDIT_SCENES,
  ...SESSION_SCENES,
  ...CRON_SCENES,
  ...DOCTOR_SCENES,
  ...HISTORY_SCENES,
  ...LIMIT_SCENES,
  ...FLOW_SCENES,
  ...LOSS_SCENES,
  ...CHANNEL_SCENES,
  ...STATISTICS_SCENES,
  ...NAMESPACE_SCENES,
  [
    'reserve_ids',
    'a first push',
    async ({ intake, accepted }) =>
      async () =>
        accepted.push(await pushOne(intake)),
  ],
  [
    'read_usage',
    'a look at a team',
    async ({ world }) =>
      () =>
        readShardUsage(world.engine, shardKeys(world.engine, 0), ['default'], 0),
  ],
  [
    'reserve_queue',
    'a first push',
    async ({ intake, accepted }) =>
      async () =>
        accepted.push(await pushOne(intake)),
  ],
  [
    'beat',
    'an executor that comes',
    async ({ world }) =>
      () =>
        openExecutor(world, 'e1'),
  ],
  ['enqueue', 'a batch for a new queue', (stage) => enqueueScene(stage)],
  [
    'enqueue',
    'a batch for a queue with jobs',
    async (stage) => {
      stage.accepted.push(await pushOne(stage.intake))
      return enqueueScene(stage)
    },
  ],
  ['claim', 'two queues, one at its limit, one with a cancelled job', claimScene],
  ['claim', 'a team beside a held one that is far behind', heldScene],
  ['finish', 'every kind of end', finishScene],
  [
    'forget_alerts',
    'alerts past their retention',
    async (stage) => {
      await finishScene(stage).then((finish) => finish())
      stage.accepted.length = 0
      stage.world.clock.advance(ALERT_RETENTION_DAYS * 86_400_000)
      return () => forgetAlerts(stage.world.engine, shardKeys(stage.world.engine, 0), { team: 'default' })
    },
  ],
  ['claim_suspects', 'two of one cohort, one of a paused queue, one too many', suspectScene],
  ['reap', 'one job lost the first time, one the last', reapScene],
  ['promote', 'due jobs of two queues', promoteScene],
  [
    'pour',
    'a minute with two jobs',
    async (stage) => {
      stage.accepted.push(...(await pushAll(stage.intake, 2, { start: { delaySeconds: 100 } })))
      stage.world.clock.advance(60_000)
      return () => createShardMaintenance(stage.world.engine, 0).promote()
    },
  ],
  [
    'trim',
    'an old history',
    async (stage) => {
      await finishJobs(stage, 4)
      stage.accepted.length = 0
      stage.world.clock.advance(8 * 86_400_000)
      await openExecutor(stage.world, 'e2')
      return () => trimFinished(stage.world.engine, shardKeys(stage.world.engine, 0), '1')
    },
  ],
  [
    'purge',
    'two dead letters',
    async (stage) => {
      const roots = await makeDeadLetters(stage, 2)
      stage.accepted.length = 0
      const keys = shardKeys(stage.world.engine, 0)
      return () =>
        purgeDeadLetters(stage.world.engine, keys, {
          localId: '1',
          roots: roots.map(String),
          onlyDue: false,
        })
    },
  ],
  [
    'remake_page',
    'a dead letter with a large request',
    async (stage) => {
      const [root] = await makeDeadLetters(stage, 1)
      const store = createJobStore(stage.world.engine)
      return () => store.replay('default', root as number, AN_ACTOR)
    },
  ],
  ...MENDING_SCENES,
  ...(['ready', 'near', 'minute'] as const).map((place): [StepName, string, Scene] => [
    'open_page',
    `a job that is ${place} and removed`,
    async (stage) => {
      const delaySeconds = { ready: 0, near: 30, minute: 500 }[place]
      const request = { payload: LARGE }
      const [kept, cancelled] = await pushAll(stage.intake, 2, { start: { delaySeconds }, request })
      stage.accepted.push(kept as number)
      return () => createJobStore(stage.world.engine).remove('default', cancelled as number, AN_ACTOR, false)
    },
  ]),
  [
    'set_queue',
    'a limit that is lifted with other settings',
    async (stage) => {
      await apply(stage.world, { isActive: false })
      stage.accepted.push(...(await pushAll(stage.intake, 2)))
      return () => apply(stage.world, { isActive: true, timeoutSeconds: 5 })
    },
  ],
  [
    'set_queue',
    'a resource for a pushed queue, from another term',
    async (stage) => {
      stage.accepted.push(...(await pushAll(stage.intake, 2)))
      const { compiler } = await createLeaderEpochs(stage.world.engine, BOX).begin()
      const settings = { ...DEFAULT_QUEUE_SETTINGS, maxParallelism: 1, strictParallelism: true }
      return () => compiler.applyQueue('default', 'emails', settings)
    },
  ],
  ...(['take_epoch', 'begin_epoch'] as const).map((name): [StepName, string, Scene] => [
    name,
    'a epoch after a wipe',
    async ({ world }) => {
      const idFloor = { jobBlock: 100, queue: 100, token: 100 }
      const earlier = { installation: '0123456789ab', epoch: 7, idFloor }
      return () => createLeaderEpochs(world.engine, BOX).begin(earlier)
    },
  ]),
  ...(['put', 'removed'] as const).map((what): [StepName, string, Scene] => [
    'put_setting',
    `a team that is ${what}`,
    async ({ world }) => {
      const { compiler } = await createLeaderEpochs(world.engine, BOX).begin()
      const policy = { egressAllow: ['10.0.0.0/8'], signingSecrets: [] }
      if (what === 'put') return () => compiler.putTeam('default', policy)
      await compiler.putTeam('default', policy)
      return () => compiler.removeTeam('default')
    },
  ]),
  [
    'reseal',
    'a team whose secret lies there under a former key',
    async ({ world }) => {
      const { compiler } = await createLeaderEpochs(world.engine, BOX).begin()
      await compiler.putTeam('default', {
        egressAllow: [],
        signingSecrets: ['a secret of 24 bytes and more'],
      })
      const first = createSecretKey(randomBytes(32))
      return () => sealAllAnew(world.engine, new SecretBox(first, [KEY]), null)
    },
  ],
  [
    'list_names',
    'a team with a queue',
    async ({ world, intake }) => {
      await pushOne(intake)
      return () => queuePages(world.engine)({ team: 'default', limit: 10, cursor: null })
    },
  ],
  [
    'read_queues',
    'a queue with jobs of every kind',
    async (stage) => {
      await finishScene(stage).then((finish) => finish())
      return () => createQueueStore(stage.world.engine).getByName('default', 'emails')
    },
  ],
  [
    'read_backlog',
    'a queue with jobs of every kind',
    async (stage) => {
      await finishScene(stage).then((finish) => finish())
      return () => createBacklogReader(stage.world.engine).read(20_000)
    },
  ],
  [
    'delete_queue',
    'a queue with jobs of every kind',
    async (stage) => {
      await finishScene(stage).then((finish) => finish())
      stage.accepted.length = 0
      return () => createQueueStore(stage.world.engine).remove('default', 'emails')
    },
  ],
  [
    'empty_trash',
    'the remains of a queue',
    async (stage) => {
      await finishScene(stage).then((finish) => finish())
      stage.accepted.length = 0
      await createQueueStore(stage.world.engine).remove('default', 'emails')
      return () => createShardMaintenance(stage.world.engine, 0).sweep()
    },
  ],
  [
    'reschedule',
    'a queue whose retention is looked at',
    async (stage) => {
      await finishJobs(stage, 2)
      const keys = shardKeys(stage.world.engine, 0)
      await stage.client.zadd(keys.retentionDue, 1, '1')
      return () => createShardMaintenance(stage.world.engine, 0).sweep()
    },
  ],
  [
    'evict_calls',
    'call records past their age',
    async (stage) => {
      await finishScene(stage).then((finish) => finish())
      stage.world.clock.advance(4 * 86_400_000)
      await openExecutor(stage.world, 'e2')
      return () => createShardMaintenance(stage.world.engine, 0).sweep()
    },
  ],
  [
    'check_ring',
    'a queue that a Redis with lost writes left out of the ring',
    async (stage) => {
      stage.accepted.push(await pushOne(stage.intake))
      await stage.client.del(shardKeys(stage.world.engine, 0).ring)
      return () => createShardMaintenance(stage.world.engine, 0).sweep()
    },
  ],
  [
    'check_teams',
    'a band that has come far, of a team that a Redis with lost writes left out',
    async (stage) => {
      const { ring, teams } = shardKeys(stage.world.engine, 0)
      stage.accepted.push(await pushOne(stage.intake))
      await stage.client.zadd(ring, 2 ** 37 + 2 ** 36 + 1, '1')
      await stage.client.del(teams)
      return () => createShardMaintenance(stage.world.engine, 0).sweep()
    },
  ],
]

function apply(world: World, change: Partial<QueueSettings>) {
  return createQueueStore(world.engine).apply('default', 'emails', { ...DEFAULT_QUEUE_SETTINGS, ...change })
}

/** The API process sends the identical step again, so its ids are the same. */
async function enqueueScene({ world, intake, accepted }: Stage): Promise<() => Promise<unknown>> {
  const starts = [0, 0, 30, 500].map((delaySeconds) => ({ delaySeconds }))
  let isSent = false
  let ids: number[] = []
  return async () => {
    if (isSent) {
      const { name, keys, args } = world.sent.get('enqueue') ?? assert.fail('nothing was sent')
      const reply = (await world.engine.runner.run({ name, keys, args })) as string
      const accepted = [...reply.matchAll(/ (\d+) (?:ok|again|dup) /g)]
      assert.equal(
        accepted.reduce((jobs, [, more]) => jobs + Number(more), 0),
        starts.length,
      )
      const numbers = String(args[ENQUEUE.shape.args.indexOf('numbers')])
      ids = [...numbers.matchAll(/\d+ (\d+) /g)].map(([, id]) => Number(id))
    } else {
      isSent = true
      const pushes = starts.map((start, i) =>
        intake.push(
          newJob({
            start,
            idempotency: i === 0 ? { key: 'k', fingerprint: 'f' } : null,
            request: { payload: i < 2 ? LARGE : null },
          }),
        ),
      )
      const answers = await Promise.all(pushes.map((push) => push.catch((error: unknown) => error)))
      const fault = answers.find((answer) => answer instanceof Error)
      if (fault instanceof Error) throw fault
      ids = (answers as Array<{ jobId: number }>).map((answer) => answer.jobId)
    }
    accepted.push(...ids)
  }
}

async function claimScene(stage: Stage): Promise<() => Promise<unknown>> {
  const { world, intake, accepted } = stage
  await apply(world, { maxParallelism: 1 })
  accepted.push(...(await pushAll(intake, 2, { request: { payload: LARGE } })))
  const others = await pushAll(intake, 3, { queue: 'others' })
  await createJobStore(world.engine).remove('default', others[0] as number, AN_ACTOR, false)
  accepted.push(...others.slice(1))
  const source = await openExecutor(world, 'e1')
  // Without any room, so that it only learns whom to ask.
  await source.claim(grantOf(64, { otherTeamsHeadroom: 0 }))
  return () => source.claim(grantOf(64))
}

async function heldScene({ world, client, intake, accepted }: Stage): Promise<() => Promise<unknown>> {
  accepted.push(
    ...(await pushAll(intake, 2, { team: 'held' })),
    ...(await pushAll(intake, 2, { team: 'busy' })),
  )
  const windows = createFakeWindows()
  const source = new RedisJobSource(world.engine, 0, 'e1', { windows })
  await source.beat(true)
  windows.hold('held', null)
  // Learns what is held.
  await source.claim(grantOf(64, { otherTeamsHeadroom: 0 }))
  await client.zadd(shardKeys(world.engine, 0).teams, 1_000_000, '2')
  return () => source.claim(grantOf(64))
}

async function finishScene(stage: Stage): Promise<() => Promise<unknown>> {
  const { world, intake, accepted } = stage
  const request = { callbackUrl: 'http://target.test/', payload: LARGE }
  // Plain ones: beside others of their queue, and alone.
  accepted.push(...(await pushAll(intake, 1)), ...(await pushAll(intake, 2, { queue: 'plain' })))
  const source = await openExecutor(world, 'e1')
  const plain = await claimed(source, 3)
  accepted.push(...(await pushAll(intake, 7, { request })))
  const works = await claimed(source, 6)
  const changed = (work: ClaimedJob, change: Partial<QueueSettings>): ClaimedWork => ({
    ...work,
    settings: { ...work.settings, alertsEnabled: true, ...change },
  })
  const ends = works.map((work, i): WorkEnd => {
    assert.equal(work.kind, 'job')
    if (work.kind !== 'job' || i === 0) return { type: 'released', work }
    const call = callRecord(work, world.clock.wallMs, 20)
    if (i === 1) return ended(world, changed(work, {}), { failed: true, call })
    if (i === 2) return ended(world, changed(work, { retryDelays: [] }), { failed: true, call })
    if (i === 3) return ended(world, changed(work, { retriesEnabled: false }), { failed: true, call })
    return ended(world, work, { failed: false, call })
  })
  ends.push(...plain.map((work) => ended(world, work)))
  return () => source.finish(ends)
}

async function reapScene(stage: Stage): Promise<() => Promise<unknown>> {
  const { world, intake, accepted } = stage
  const request = { callbackUrl: 'http://target.test/' }
  accepted.push(...(await pushAll(intake, 1, { request })))
  const upkeep = createShardMaintenance(world.engine, 0)
  for (let loss = 1; loss <= LOST_LEASES_MAX; loss += 1) {
    if (loss === LOST_LEASES_MAX) accepted.push(...(await pushAll(intake, 1, { request })))
    // Suspects and others come with claims of their own.
    const source = await openExecutor(world, `e${loss}`)
    await claimed(source, 2)
    await claimed(source, 2)
    for (let i = 0; i < 2; i += 1) {
      world.clock.advance(9_000)
      await upkeep.promote()
    }
    if (loss < LOST_LEASES_MAX) await upkeep.reap()
  }
  return () => upkeep.reap()
}

async function suspectScene({ world, intake, accepted }: Stage): Promise<() => Promise<unknown>> {
  for (const queue of ['paused', 'emails']) {
    accepted.push(...(await pushAll(intake, 2, { queue, request: { payload: LARGE } })))
  }
  await claimed(await openExecutor(world, 'e1'), 4)
  for (let i = 0; i < 2; i += 1) {
    world.clock.advance(9_000)
    await createShardMaintenance(world.engine, 0).promote()
  }
  await createShardMaintenance(world.engine, 0).reap()
  await createQueueStore(world.engine).apply('default', 'paused', {
    ...DEFAULT_QUEUE_SETTINGS,
    isActive: false,
  })
  const source = await openExecutor(world, 'e2')
  return () => source.claim(grantOf(2))
}

async function promoteScene({ world, intake, accepted }: Stage): Promise<() => Promise<unknown>> {
  for (const queue of ['one', 'two']) {
    accepted.push(...(await pushAll(intake, 2, { queue, start: { delaySeconds: 5 } })))
  }
  world.clock.advance(5_000)
  return () => createShardMaintenance(world.engine, 0).promote()
}

async function finishJobs({ world, intake, accepted }: Stage, count: number): Promise<void> {
  accepted.push(...(await pushAll(intake, count)))
  const source = await openExecutor(world, 'e1')
  const works = await claimed(source, count)
  await source.finish(works.map((work) => ended(world, work)))
}

async function makeDeadLetters({ world, intake, accepted }: Stage, count: number): Promise<number[]> {
  const ids = await pushAll(intake, count, { request: { payload: LARGE } })
  accepted.push(...ids)
  const source = await openExecutor(world, 'e1')
  const works = await claimed(source, count)
  const ends = works.map((work) => {
    assert.ok(work.kind === 'job')
    return ended(world, { ...work, settings: { ...work.settings, retryDelays: [] } }, { failed: true })
  })
  await source.finish(ends)
  return ids
}
