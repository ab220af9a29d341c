import { teamsOf } from '../../support/no-own-secrets.ts'
import { JobIds } from '../../../src/domain/jobs/job-ids.ts'
import { Executor, type ExecutorOptions } from '../../../src/executor/executor.ts'
import type { CronSource } from '../../../src/ports/crons.ts'
import type { HttpCaller } from '../../../src/ports/http-caller.ts'
import type { ClaimedJob, JobSource } from '../../../src/ports/jobs.ts'
import { NO_TEAM_SETTINGS } from '../../../src/ports/settings.ts'
import { createLoopHealth } from '../../../src/telemetry/loop-health.ts'
import { capacityOf } from '../../support/engine/capacity.ts'
import { createFakeClock, quiescence } from '../../support/fake-clock.ts'
import { latched } from '../../support/latched.ts'
import {
  answered,
  claimAnswer,
  claimedJob,
  createFakeCrons,
  createFakeMaintenance,
  createFakeSource,
  createRecordingLogger,
  createRecordingMetrics,
  type FakeSource,
} from './executor-fixture.ts'

export const CONCURRENCY = 10

/** An executor on fake shards. */
export function setUpExecutor(
  shards = 2,
  cronsOf: (shard: number) => CronSource = createFakeCrons,
  change: Partial<ExecutorOptions> = {},
) {
  const clock = createFakeClock()
  const call = latched<HttpCaller['call']>(() => answered())
  const metrics = createRecordingMetrics()
  const logger = createRecordingLogger()
  const maintenances = Array.from({ length: shards }, (_, shard) => createFakeMaintenance(shard))
  /** The sources that were opened for each shard, oldest first. */
  const opened = maintenances.map((): FakeSource[] => [])
  const ids: string[] = []
  const prepared = { change: (_source: FakeSource): void => undefined }
  const { loops, check: loopsCheck } = createLoopHealth({ clock, logger, metrics })
  let wake: (shard: number) => void = () => undefined
  const executor = new Executor({
    shards: maintenances.map((maintenance, shard) => ({
      shard,
      openSource: (id): JobSource => {
        const source = createFakeSource(shard)
        prepared.change(source)
        opened[shard]?.push(source)
        ids.push(id)
        return source
      },
      maintenance,
      crons: cronsOf(shard),
    })),
    hints: {
      onWake: (listener) => {
        wake = listener
        return () => (wake = () => undefined)
      },
    },
    caller: { call, close: () => Promise.resolve() },
    teams: teamsOf(() => NO_TEAM_SETTINGS),
    jobIds: new JobIds(2, '0123456789ab'),
    clock,
    logger,
    metrics,
    loops,
    capacity: capacityOf(CONCURRENCY),
    newExecutorId: () => `executor-${ids.length + 1}`,
    random: () => 0,
    redisNowMs: () => clock.wallMs(),
    ...change,
  })
  const start = async () => {
    executor.start()
    await quiescence()
  }
  /** @param time 1 = the first source that was opened for the shard */
  const source = (shard: number, time = 1): FakeSource => {
    const found = opened[shard]?.[time - 1]
    if (found === undefined) throw new Error(`shard ${shard} has not been opened ${time} times`)
    return found
  }
  const give = (from: FakeSource, ...jobs: ClaimedJob[]) => {
    from.claim.rule = () => {
      from.claim.rule = () => claimAnswer([])
      return claimAnswer(jobs)
    }
  }
  const hint = async (shard: number) => {
    wake(shard)
    await quiescence()
  }
  /** Starts a call in a shard that stays open. */
  const hold = async (shard: number, time = 1) => {
    call.rule = null
    give(source(shard, time), claimedJob({ shard, jobId: 16 + shard }))
    await hint(shard)
  }
  const all = () => opened.flat()
  return {
    clock,
    call,
    metrics,
    logger,
    loopsCheck,
    maintenances,
    ids,
    prepared,
    executor,
    start,
    source,
    give,
    hint,
    hold,
    all,
  }
}
