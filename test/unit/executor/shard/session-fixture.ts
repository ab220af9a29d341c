import { loopsOf } from '../../../support/loops.ts'
import { reasonOf } from '../../../../src/domain/errors.ts'
import { ExecutorSession } from '../../../../src/executor/shard/executor-session.ts'
import type { SlotGrant } from '../../../../src/executor/slots/contender.ts'
import { SlotScheduler } from '../../../../src/executor/slots/slot-scheduler.ts'
import type { ClaimedJob } from '../../../../src/ports/jobs.ts'
import { NO_CALL_QUOTAS } from '../../../../src/ports/quotas.ts'
import { createFakeClock, quiescence } from '../../../support/fake-clock.ts'
import {
  claimAnswer,
  claimedJob,
  createFakeRunner,
  createFakeSource,
  createRecordingLogger,
  createRecordingMetrics,
} from '../executor-fixture.ts'

/** A session on a fake shard, with a scheduler of its own. */
export function setUpSession(options: { slots?: number } = {}) {
  const clock = createFakeClock()
  const source = createFakeSource()
  const runner = createFakeRunner()
  const logger = createRecordingLogger()
  const metrics = createRecordingMetrics()
  const shares = { team: 0.99, queue: 0.99 }
  const scheduler = new SlotScheduler({
    slots: options.slots ?? 100,
    newcomerSlots: 0,
    bytes: 2 ** 30,
    shares,
    clock,
    quotas: NO_CALL_QUOTAS,
  })
  const defects: string[] = []
  const dueTimes: Array<number | null> = []
  const lost: Array<'early' | 'in time'> = []
  const suspension = { check: (): void => undefined }
  const session = new ExecutorSession({
    source,
    scheduler,
    runCall: runner.run,
    onNextDue: (nextDueMs) => dueTimes.push(nextDueMs),
    clock,
    logger,
    metrics,
    loops: loopsOf({ clock, logger }),
    noteDefect: (part, error) => defects.push(`${part}: ${reasonOf(error)}`),
    random: () => 0.4,
    onLeaseLost: (isEarly) => lost.push(isEarly ? 'early' : 'in time'),
    checkSuspended: () => suspension.check(),
  })
  const start = async () => {
    await session.start()
    await quiescence()
  }
  /** Answers the next claim with these jobs and nothing afterwards. */
  const give = async (...jobs: ClaimedJob[]) => {
    source.claim.rule = () => {
      source.claim.rule = () => claimAnswer([])
      return claimAnswer(jobs)
    }
    session.wake()
    await quiescence()
  }
  /** Another shard that asks. */
  const grants: SlotGrant[] = []
  const other = { shard: 1, granted: (grant: SlotGrant) => void grants.push(grant) }
  const reasons = () =>
    logger.lines.filter(({ level }) => level === 'warn').map(({ fields }) => fields?.['reason'])
  return {
    clock,
    source,
    runner,
    logger,
    metrics,
    scheduler,
    session,
    start,
    give,
    dueTimes,
    lost,
    reasons,
    suspension,
    other,
    grants,
    defects,
  }
}

export function jobs(count: number): ClaimedJob[] {
  return Array.from({ length: count }, (_, i) => claimedJob({ jobId: i * 16 }))
}
