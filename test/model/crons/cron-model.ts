import assert from 'node:assert/strict'
import { cronScheduleOf, type CronSettings } from '../../../src/domain/crons/cron.ts'
import type { CronSchedule } from '../../../src/domain/crons/cron-schedule.ts'
import { decideTicks, missedTicks } from '../../../src/domain/crons/cron-tick.ts'
import type { CronRun } from '../../../src/ports/crons.ts'

/** A record, and the open chain behind it. */
interface ModelRun {
  tickMs: number
  result: CronRun['result']
  isManual: boolean
  ticks: number
  /** null when there was none, or it is not known yet. */
  jobId: number | null
}

export interface ModelCron {
  readonly cronId: number
  settings: CronSettings
  expectedMs: number | null
  failures: number
  successMs: number | null
  /** Newest first. */
  runs: ModelRun[]
  /** The last run; null = none, or it has ended. */
  running: number | null
}

/** Crons as they should be, without Redis. */
export class CronModel {
  readonly crons = new Map<string, ModelCron>()
  /** Chains that have not ended. */
  readonly open = new Set<number>()

  apply(name: string, cronId: number, settings: CronSettings, nowMs: number): void {
    const known = this.crons.get(name)
    const nextMs = scheduleOf(settings).next(nowMs)
    if (known === undefined) {
      const fresh = { failures: 0, successMs: null, runs: [], running: null }
      this.crons.set(name, { cronId, settings, expectedMs: settings.isActive ? nextMs : null, ...fresh })
      return
    }
    assert.equal(cronId, known.cronId)
    const before = known.settings
    const isSame = before.cronExpression === settings.cronExpression && before.timeZone === settings.timeZone
    if (!settings.isActive || !isSame || !before.isActive || known.expectedMs === null) {
      if (known.expectedMs !== null && this.isDue(known, nowMs)) {
        const spreadMs = spreadOfCron(known)
        const { lastMs, count } = missedTicks(scheduleOf(before), known.expectedMs, nowMs - spreadMs)
        this.#note(known, lastMs, 'missed', count)
      }
      known.expectedMs = settings.isActive ? nextMs : null
    }
    known.settings = settings
  }

  /** Whether ticks are due. */
  isDue(cron: ModelCron, nowMs: number): boolean {
    return cron.expectedMs !== null && cron.expectedMs + spreadOfCron(cron) <= nowMs
  }

  /** Answers the ticks that make runs. */
  tick(cron: ModelCron, nowMs: number): number[] {
    const { settings, expectedMs } = cron
    assert.ok(expectedMs !== null)
    const deadline = settings.startingDeadlineSeconds
    const { run, missed, nextMs } = decideTicks(
      scheduleOf(settings),
      {
        missedRunPolicy: settings.missedRunPolicy,
        startingDeadlineMs: deadline === null ? null : deadline * 1000,
      },
      expectedMs,
      nowMs - spreadOfCron(cron),
    )
    cron.expectedMs = nextMs
    if (missed !== null) this.#note(cron, missed.lastMs, 'missed', missed.count)
    const started: number[] = []
    for (const tickMs of run) {
      if (settings.concurrencyPolicy === 'forbid' && (started.length > 0 || this.isRunning(cron))) {
        this.#note(cron, tickMs, 'skipped', 1)
      } else {
        this.#note(cron, tickMs, 'running', 1)
        started.push(tickMs)
      }
    }
    return started
  }

  isRunning(cron: ModelCron): boolean {
    return cron.running !== null && this.open.has(cron.running)
  }

  /** A run was made, and this is its job. */
  started(cron: ModelCron, tickMs: number, isManual: boolean, jobId: number): void {
    const run = cron.runs.find(
      (each) => each.tickMs === tickMs && each.result === 'running' && each.jobId === null && !each.isManual,
    )
    if (isManual) cron.runs.unshift({ tickMs, result: 'running', isManual, ticks: 1, jobId })
    else (run ?? assert.fail(`no run of ${tickMs}`)).jobId = jobId
    cron.running = jobId
    this.open.add(jobId)
    cron.runs.length = Math.min(cron.runs.length, 100)
  }

  /** @param livesThere whether the cron lives in the shard of the job: what ends elsewhere is not noted */
  ended(jobId: number, failed: boolean, livesThere: (name: string) => boolean): void {
    this.open.delete(jobId)
    for (const [name, cron] of this.crons) {
      if (!livesThere(name)) continue
      const run = cron.runs.find((each) => each.jobId === jobId)
      if (run === undefined) continue
      run.result = failed ? 'failed' : 'succeeded'
      cron.failures = failed ? cron.failures + 1 : 0
      if (!failed) cron.successMs = Math.max(cron.successMs ?? 0, run.tickMs)
    }
  }

  #note(cron: ModelCron, tickMs: number, result: CronRun['result'], ticks: number): void {
    cron.runs.unshift({ tickMs, result, isManual: false, ticks, jobId: null })
    cron.runs.length = Math.min(cron.runs.length, 100)
  }
}

/** What is left of the id times the golden ratio of 2^32, as a part of the jitter. */
export function spreadOfCron({ cronId, settings }: Pick<ModelCron, 'cronId' | 'settings'>): number {
  const part = Number((BigInt(cronId) * 2_654_435_761n) % 2n ** 32n) / 2 ** 32
  return Math.floor(part * settings.jitterSeconds * 1000)
}

function scheduleOf(settings: CronSettings): CronSchedule {
  const schedule = cronScheduleOf(settings)
  assert.ok(!('problem' in schedule))
  return schedule
}
