import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { PushPlan } from '../load/push-plan.ts'
import { BenchError } from './bench-error.ts'

const PROCESS = join(import.meta.dirname, '../load/paced-push-process.ts')

/** Runs a plan in a process of its own. Every push must be accepted, else BenchError. */
export async function runPushPlan(plan: PushPlan, withinMs: number): Promise<void> {
  const { stdout } = await promisify(execFile)(process.execPath, [PROCESS, JSON.stringify(plan)], {
    timeout: withinMs,
  })
  const { accepted, refused } = JSON.parse(stdout) as { accepted: number; refused: number }
  if (refused > 0) throw new BenchError(`${refused} of ${accepted + refused} pushes were refused`)
}
