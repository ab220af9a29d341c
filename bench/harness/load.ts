import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { PushPlan, PushReport } from '../load/push-plan.ts'
import { BenchError } from './bench-error.ts'

const PROCESS = join(import.meta.dirname, '../load/paced-push-process.ts')

/**
 * Runs a plan in a process of its own. Answers how many pushes were accepted only after their due time, which is then
 * not theirs any more. Every push must be accepted, else BenchError.
 */
export async function runPushPlan(plan: PushPlan, withinMs: number): Promise<{ acceptedLate: number }> {
  const { stdout } = await promisify(execFile)(process.execPath, [PROCESS, JSON.stringify(plan)], {
    timeout: withinMs,
  })
  const { accepted, acceptedLate, refused } = JSON.parse(stdout) as PushReport
  if (refused > 0) throw new BenchError(`${refused} of ${accepted + refused} pushes were refused`)
  return { acceptedLate }
}
