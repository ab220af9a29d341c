import type { NotedLoss } from '../../ports/queues.ts'
import type { WantedCondition } from '../../resources/conditions.ts'
import type { EngineLoss } from '../engine/engine-loss.ts'
import type { HttpQueue } from '../kinds.ts'

type Wanted = WantedCondition<'HttpQueue'>

/**
 * The condition `JobsLost`, which is there for a while after Redis has lost jobs. What it lost of this queue is more than
 * that it lost something.
 * @param lost jobs of this queue that were accepted
 * @param engine what the controller noticed of the whole engine
 */
export function jobsLost(lost: NotedLoss | null, engine: EngineLoss | null): readonly Wanted[] {
  if (lost !== null) {
    const { count, fromMs, toMs } = lost
    const [from, to] = [fromMs, toMs].map((ms) => new Date(ms).toISOString())
    const jobs = count === 1 ? '1 job that was' : `${count} jobs that were`
    const message = `Redis came back without ${jobs} accepted from ${from} to ${to}: push them again. Others may be called twice.`
    return [{ type: 'JobsLost', status: 'True', reason: 'AcceptedJobsLost', message }]
  }
  if (engine === null) return []
  return [{ type: 'JobsLost', status: 'True', reason: engine.reason, message: engine.message }]
}

/** Tells whether the status says something else of the jobs that are lost. */
export function isLossStale({ status = {} }: Pick<HttpQueue, 'status'>, lost: NotedLoss | null): boolean {
  const shown = status.conditions?.find(({ type }) => type === 'JobsLost')
  const [wanted] = jobsLost(lost, null)
  const said = shown?.reason === 'AcceptedJobsLost' ? shown.message : undefined
  return said !== wanted?.message
}
