import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { PushPlan, PushReport } from '../load/push-plan.ts'
import { BenchError } from './bench-error.ts'

const PROCESS = join(import.meta.dirname, '../load/paced-push-process.ts')
const PLAN_TRIES_MAX = 10

/** Runs a plan in a process of its own. */
async function sendPushPlan(plan: PushPlan, withinMs: number): Promise<PushReport> {
  const { stdout } = await promisify(execFile)(process.execPath, [PROCESS, JSON.stringify(plan)], {
    timeout: withinMs,
  })
  return JSON.parse(stdout) as PushReport
}

/**
 * Runs a plan until as many pushes as it has were accepted. A machine that does other work may refuse some for want of
 * time.
 */
export async function pushUntilAccepted(plan: PushPlan, withinMs: number): Promise<void> {
  let left = plan.count
  for (let tries = 0; left > 0; tries += 1) {
    if (tries === PLAN_TRIES_MAX)
      throw new BenchError(`${left} of ${plan.count} pushes were refused again and again`)
    left = (await sendPushPlan({ ...plan, count: left }, withinMs)).refused
  }
}

/**
 * Runs a plan in a process of its own. Answers how many pushes were accepted only after their due time, which is then
 * not theirs any more. Every push must be accepted, else BenchError.
 */
export async function runPushPlan(plan: PushPlan, withinMs: number): Promise<{ acceptedLate: number }> {
  const { accepted, acceptedLate, refused } = await sendPushPlan(plan, withinMs)
  if (refused > 0) throw new BenchError(`${refused} of ${accepted + refused} pushes were refused`)
  return { acceptedLate }
}
