import { cronScheduleOf, spreadOf, type CronSettings } from '../../../src/domain/crons/cron.ts'
import type { Cron, CronRun } from '../../../src/ports/crons.ts'
import { CRON_RECORDS_MAX } from '../../../src/domain/limits.ts'
import { createCronStore } from '../../../src/redis/crons/cron-store.ts'
import { createJobStore } from '../../../src/redis/jobs/job-store.ts'
import { openObserver } from '../story/oracle.ts'
import { TEAM } from '../story/plan.ts'
import type { Simulation } from '../story/simulation.ts'
import { SIMULATION_EPOCH_MS } from '../story/simulated-process.ts'

/** Looks at crons at rest: each tick was decided about, once, and whatever ran for one is noted. Answers the ticks. */
export async function judgeCrons(simulation: Simulation): Promise<number> {
  const engine = openObserver(simulation)
  const store = createCronStore(engine)
  const jobs = createJobStore(engine)
  let noted = 0
  for (const [name, settings] of simulation.plan.crons) {
    const complain = (problem: string) => simulation.complain(`cron ${name} ${problem}`)
    const cron = await store.getByName(TEAM, name)
    const answer = await store.runs({ team: TEAM, cronId: cron?.cronId ?? 0, limit: 1_000, cursor: null })
    if (cron === null || answer === null || answer === 'bad_cursor') {
      complain('is gone')
      continue
    }
    const { runs } = answer
    noted += runs.reduce((sum, { ticks }) => sum + ticks, 0)
    for (const run of runs) {
      if (run.result === 'running') complain(`has a run that never ended: ${JSON.stringify(run)}`)
      const chain = run.jobId === null ? null : await jobs.get(TEAM, run.jobId)
      if (run.jobId !== null && chain?.request.cron?.cronId !== cron.cronId) complain('names a job of others')
      const hasSucceeded = run.result === 'succeeded'
      if (chain !== null && (chain.end === 'success') !== hasSucceeded)
        complain(`notes of job ${run.jobId}, which ended as ${chain.end}, that it ${run.result}`)
    }
    if (runs.length < CRON_RECORDS_MAX) judgeTicks(simulation, cron, settings, runs, complain)
    judgeDeliveries(simulation, settings, runs, complain)
  }
  return noted
}

function judgeTicks(
  { server }: Simulation,
  { cronId, nextRunAtMs }: Cron,
  settings: CronSettings,
  runs: readonly CronRun[],
  complain: (problem: string) => void,
): void {
  const schedule = cronScheduleOf(settings)
  if ('problem' in schedule) throw new Error(schedule.problem)
  const spreadMs = spreadOf(cronId, settings.jitterSeconds)
  if (nextRunAtMs === null || nextRunAtMs <= server.wallMs - 1_000) {
    return complain(`ticks no more: its next tick was ${nextRunAtMs}, it is ${server.wallMs}`)
  }
  const passed = schedule.between(SIMULATION_EPOCH_MS, nextRunAtMs - spreadMs - 1, 10_000)
  const noted = runs.reduce((sum, { ticks }) => sum + ticks, 0)
  if (noted !== passed.length) complain(`noted ${noted} of ${passed.length} ticks`)
  const ticks = runs.map(({ scheduledAtMs }) => scheduledAtMs)
  if (new Set(ticks).size < ticks.length) complain('has decided twice about a tick')
  for (const tick of ticks) if (!passed.includes(tick)) complain(`noted ${tick}, which is no tick`)
}

function judgeDeliveries(
  { target, around }: Simulation,
  { url }: CronSettings,
  runs: readonly CronRun[],
  complain: (problem: string) => void,
): void {
  if (runs.length >= CRON_RECORDS_MAX) return
  const known = new Set(runs.map(({ jobId }) => jobId))
  const calls = target.deliveries.filter((delivery) => delivery.url === url && delivery.jobId !== null)
  const called = new Set(calls.map(({ jobId }) => around.jobIds.rootOf(jobId ?? 0)))
  for (const root of called)
    if (!known.has(root)) complain(`called for job ${root}, of which no record tells`)
  for (const { jobId, result } of runs) {
    if (jobId !== null && result === 'succeeded' && !called.has(jobId))
      complain(`did not call for job ${jobId}`)
  }
}
